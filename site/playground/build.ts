/** Builds the playground: `deno task site:playground --out DIR`. */
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { make } from "@bellman/envs";
import { parseArgs } from "@std/cli";
import { encode } from "fast-png";
import { denoOutput } from "../../tests/tools/deno_output.ts";
import { pageSheet } from "../../tests/tools/style_sheets.ts";
import { PICTURE, TASKS } from "./tasks.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const MODULES = ["page.ts", "trainer.ts", "player.ts"];

// Deno knows where a package is that something imports: never called.
void (() => import("npm:onnxruntime-web@1.30.0/wasm"));

/** Files of packages; those of WebAssembly for one thread, as pages have no more. */
const COPIED = {
  "@tensorflow/tfjs-backend-wasm": [
    "tfjs-backend-wasm-simd.wasm",
  ],
  "npm:onnxruntime-web@1.30.0/wasm": ["ort-wasm-simd-threaded.wasm"],
  "uplot": ["uPlot.min.css"],
};

/** Draws each environment as it begins, for a page before its run: PNG files. */
export function stills(): Record<string, Uint8Array<ArrayBuffer>> {
  return Object.fromEntries(
    Object.keys(TASKS).map((id) => {
      const env = make(id);
      env.reset({ seed: 0 });
      const { width, height, data } = env.render(PICTURE);
      const png = encode({ width, height, data, channels: 3, depth: 8 });
      return [id, new Uint8Array(png)];
    }),
  );
}

/**
 * Writes the page's static files into a folder: any server can give them, from any
 * path.
 *
 * @param out The folder; it is made where it is missing.
 * @throws {Error} If a module cannot be bundled.
 */
export async function buildPlayground(out: string): Promise<void> {
  await Deno.mkdir(out, { recursive: true });
  await denoOutput([
    ...["bundle", "--quiet", "--platform=browser", "--minify"],
    `--outdir=${resolve(out)}`,
    ...MODULES.map((name) => HERE + name),
  ]);
  await Deno.copyFile(`${HERE}index.html`, `${out}/index.html`);
  for (const [env, picture] of Object.entries(stills())) {
    await Deno.writeFile(`${out}/${env}.png`, picture);
  }
  const style = await pageSheet(`${HERE}style.css`);
  await Deno.writeTextFile(`${out}/style.css`, style);
  for (const [name, files] of Object.entries(COPIED)) {
    const folder = dirname(fileURLToPath(import.meta.resolve(name)));
    for (const file of files) {
      await Deno.copyFile(`${folder}/${file}`, `${out}/${file}`);
    }
  }
}

if (import.meta.main) {
  const { out } = parseArgs(Deno.args, { string: ["out"] });
  if (typeof out !== "string" || out === "") {
    console.error("Cannot build the playground: expected --out DIR");
    Deno.exit(2);
  }
  await buildPlayground(out);
  console.log(`wrote ${out}`);
}
