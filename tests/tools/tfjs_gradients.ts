/**
 * Makes `compute/backends/tfjs_gradients.js` of npm's `@tensorflow/tfjs-core`: what
 * registers gradients and methods of tensors. The package has it only as files
 * for bundlers, which neither Deno nor Node loads; what they import of the rest
 * of the package is imported from its entry here. `--check` only tells whether
 * the file is current.
 */
import * as tf from "@tensorflow/tfjs";
import { denoOutput } from "./deno_output.ts";
import { ROOT } from "./packages.ts";

const PACKAGE = "@tensorflow/tfjs";
const FILE = "compute/backends/tfjs_gradients.js";

const entry = tf as unknown as Record<string, Record<string, unknown>>;
const HEADER =
  `// Made by 'deno task gradients' of npm's @tensorflow/tfjs-core, Apache-2.0.
// deno-fmt-ignore-file
// deno-lint-ignore-file
`;

/** The entry's name for the content of some files. */
const NAMESPACES: Readonly<Record<string, string>> = {
  "ops/axis_util.js": "backend_util",
  "ops/broadcast_util.js": "broadcast_util",
  "ops/conv_util.js": "backend_util",
  "ops/slice_util.js": "slice_util",
  "util.js": "util",
};

/** Files whose content the entry has under other names. */
const OTHERS: Readonly<Record<string, string>> = {
  "engine.js":
    `import { engine } from "${PACKAGE}"; export const ENGINE = engine();`,
  "environment.js": `export { env } from "${PACKAGE}";`,
  "tensor.js":
    `import { Tensor } from "${PACKAGE}"; export { Tensor }; export const getGlobalTensorClass = () => Tensor;`,
};

/** Returns what a file becomes: imports of the entry where that has all of it. */
function moduleFor(name: string, text: string): string {
  if (name in OTHERS) return OTHERS[name];
  const namespace = NAMESPACES[name];
  if (namespace !== undefined) {
    const names = Object.keys(entry[namespace]).join(", ");
    return `import { ${namespace} } from "${PACKAGE}"; export const { ${names} } = ${namespace};`;
  }
  const isOwn = /^(gradients|public|register_all)/.test(name);
  const exported = [...text.matchAll(/^export (?:const|function) (\w+)/gm)]
    .map((it) => it[1]);
  const isInEntry = exported.length > 0 && exported.every((it) => it in entry);
  if (!isOwn && isInEntry) {
    return `export { ${exported.join(", ")} } from "${PACKAGE}";`;
  }
  return text.replaceAll(
    /^((?:im|ex)port .*?)["'](\..*?)(?:\.js)?["'];$/gm,
    (_, what, path) =>
      // Files that export what the entry does.
      /\/(base|ops\/ops)$/.test(path)
        ? `${what}"${PACKAGE}";`
        : `${what}"${path}.js";`,
  );
}

/** Copies a folder of the package's modules. */
async function copy(from: URL, to: string, below = ""): Promise<void> {
  await Deno.mkdir(`${to}/${below}`);
  for await (
    const { name, isDirectory } of Deno.readDir(new URL(below, from))
  ) {
    if (isDirectory) await copy(from, to, `${below}${name}/`);
    else if (/(?<!_test)\.js$/.test(name) && !name.startsWith("tf-core")) {
      const text = await Deno.readTextFile(new URL(below + name, from));
      await Deno.writeTextFile(
        `${to}/${below}${name}`,
        moduleFor(below + name, text.replace(/^\/\/# source.*$/m, "")),
      );
    }
  }
}

/** Bundles what registers gradients and methods. */
async function make(folder: string): Promise<string> {
  const dist = new URL(".", import.meta.resolve(PACKAGE));
  await copy(dist, `${folder}/core`);
  const main = `${folder}/main.js`;
  await Deno.writeTextFile(
    main,
    `import "./core/register_all_gradients.js";
     import "./core/public/chained_ops/register_all_chained_ops.js";`,
  );
  const flags = ["-q", "--minify", `--external=${PACKAGE}`];
  return HEADER + await denoOutput(["bundle", ...flags, main]);
}

const folder = await Deno.makeTempDir();
try {
  const text = await make(folder);
  if (text !== await Deno.readTextFile(ROOT + FILE).catch(() => "")) {
    if (Deno.args.includes("--check")) {
      console.error(`${FILE} is not current: run 'deno task gradients'`);
      Deno.exitCode = 1;
    } else {
      await Deno.writeTextFile(ROOT + FILE, text);
      console.log(`wrote ${FILE}`);
    }
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
