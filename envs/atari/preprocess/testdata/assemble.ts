/**
 * Assembles a WebAssembly text beside this folder into a module that holds its
 * bytes: `deno run -A envs/atari/preprocess/testdata/assemble.ts` writes it.
 */
import wabt from "wabt";

const FOLDER = new URL("../", import.meta.url);
const TEXT = new URL("_screen_kernel.wat", FOLDER);

/** Where the bytes of the kernel are kept. */
export const GENERATED: URL = new URL("_screen_kernel_wasm.ts", FOLDER);

/** The module that the text becomes. */
export async function assembled(): Promise<string> {
  const { parseWat } = await wabt();
  const text = await Deno.readTextFile(TEXT);
  const module = parseWat("_screen_kernel.wat", text, { simd: true });
  module.validate();
  const { buffer } = module.toBinary({});
  module.destroy();
  const lines = buffer.toBase64().match(/.{1,72}/g)!;
  const literal = lines.map((line) => `  "${line}"`).join(" +\n");
  return `/** \`_screen_kernel.wat\`, assembled: made by testdata/assemble.ts. */
export const SCREEN_KERNEL: string =
${literal};
`;
}

if (import.meta.main) await Deno.writeTextFile(GENERATED, await assembled());
