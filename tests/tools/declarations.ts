/**
 * Makes the declarations of the packages for npm compile everywhere under
 * `skipLibCheck: false`.
 *
 * Types of Deno, Node and pages are not checked where a compiler has none of them.
 * Those of TensorFlow.js are copied: `@tensorflow/tfjs-core` needs a page's types,
 * and brings others of WebGPU that contradict TypeScript's own. The copy has none.
 */
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Specifiers of the modules whose types are copied, and where they lie. */
const MODULES = /^@tensorflow\/tfjs(?:-core)?(?:\/dist\/(?<module>.+))?$/;
const FOLDER = dirname(fileURLToPath(import.meta.resolve("@tensorflow/tfjs")));

/** The module of all, and that of the methods which compute adds to tensors. */
const BASE = "base", METHODS = "public/chained_ops/register_all_chained_ops";

/** Folder of the copy in the packed `@bellman/compute`, and its file of other types. */
const COPY = "tfjs", PAGE = "page";

/** Types of pages and of another package, which are unknown in the copy. */
const UNKNOWN =
  /\b(?:File|GPUBuffer|HTML(?:Canvas|Image|Source|Video)Element|IDBFactory|ImageBitmap|ImageData|Long|Navigator|ReadableStream|RequestInit|Response|Storage|WebGLContextAttributes|WebGLTexture|(?<=typeof )fetch)\b/g;

/** A module's name between quotes, after what precedes it; not in a comment. */
const SPECIFIER =
  /(?<!^ *\* .*)(\bfrom\s*|\bimport\s*\(?\s*|\bdeclare module\s*)(["'])([^"'\n]+)\2/gm;

const isFile = (path: string) =>
  Deno.stat(path).then((it) => it.isFile, () => false);

/** Returns the file of a module of the package. */
async function fileOf(module: string): Promise<string> {
  const path = join(FOLDER, module.replace(/\.js$/, ""));
  const found = `${path}.d.ts`;
  return await isFile(found) ? found : join(path, "index.d.ts");
}

/** Returns the module that a specifier in a file names; undefined for others. */
function moduleOf(specifier: string, file: string): string | undefined {
  if (specifier.startsWith(".")) {
    return relative(FOLDER, resolve(dirname(file), specifier));
  }
  const found = specifier.match(MODULES);
  return found === null ? undefined : found.groups!.module ?? BASE;
}

function specifierOf(to: string, from: string): string {
  const path = relative(dirname(from), to).replace(/\.d\.ts$/, ".js");
  return path.startsWith(".") ? path : `./${path}`;
}

/** Replaces the specifiers of a text by those that a function makes. */
async function respecify(
  text: string,
  change: (specifier: string) => Promise<string>,
): Promise<string> {
  const found = new Map<string, string>();
  for (const [, , , it] of text.matchAll(SPECIFIER)) {
    found.set(it, await change(it));
  }
  return text.replaceAll(
    SPECIFIER,
    (_, before, quote, it) => before + quote + found.get(it) + quote,
  );
}

/** Copies the types into a folder. */
async function copyTypes(to: string): Promise<void> {
  const base = await fileOf(BASE), files = new Set([base]);
  const unknown = new Set<string>();
  for (const file of files) {
    const text = (await Deno.readTextFile(file))
      .replaceAll(/^\/\/\/.*\n/gm, "")
      // Tensors of the original and of the copy are alike.
      .replaceAll(/^ +protected isDisposedInternal.*\n/gm, "");
    const names = new Set(text.replace(/\/\*.*?\*\//gs, "").match(UNKNOWN));
    const page = specifierOf(join(FOLDER, `${PAGE}.d.ts`), file);
    const types = names.size === 0
      ? ""
      : `import type { ${[...names].join(", ")} } from "${page}";\n`;
    const methods = file === base ? `import "./${METHODS}";\n` : "";
    for (const name of names) unknown.add(name);
    const copy = await respecify(types + methods + text, async (specifier) => {
      const module = moduleOf(specifier, file);
      if (module === undefined || module === `${PAGE}.js`) return specifier;
      const found = await fileOf(module);
      files.add(found);
      return specifierOf(found, file);
    });
    const path = join(to, relative(FOLDER, file));
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, copy);
  }
  const lines = [...unknown].sort().map((name) =>
    name === "fetch"
      ? "export declare const fetch: unknown;"
      : `export type ${name}<_T = unknown> = unknown;`
  );
  await Deno.writeTextFile(join(to, `${PAGE}.d.ts`), lines.join("\n") + "\n");
}

/** Types that come with a runtime. */
const OF_RUNTIMES =
  /"node:|\b(?:AbortSignal|Console|Deno\.|Disposable|ReadableStream|Symbol\.dispose|URL|WebAssembly\.)/;

/** Has the lines with types of runtimes not checked where there are none. */
function ignoreMissing(text: string): string {
  let isComment = false;
  return text.split("\n").flatMap((line) => {
    const [before, code] = isComment ? splitAt(line, "*/") : ["", line];
    isComment = isComment && before === line || /\/\*(?!.*\*\/)/.test(code);
    const isMissing = OF_RUNTIMES.test(code.replace(/\/\*.*?(\*\/|$)/g, ""));
    return isMissing
      ? [before, "// @ts-ignore -- not all runtimes have it", code]
        .filter((it) => it !== "")
      : [line];
  }).join("\n");
}

/** Splits a text after the first occurrence of another. */
function splitAt(text: string, end: string): [string, string] {
  const at = text.indexOf(end);
  if (at < 0) return [text, ""];
  return [text.slice(0, at + end.length), text.slice(at + end.length)];
}

/** Imports the copy of types instead of the original. */
async function importCopy(
  text: string,
  path: string,
  copy?: string,
): Promise<string> {
  // deno-lint-ignore require-await -- as a change of specifiers is
  return await respecify(text, async (specifier) => {
    if (specifier.startsWith(".")) return specifier;
    const module = moduleOf(specifier, path);
    if (module === undefined) return specifier;
    if (copy === undefined) return "@bellman/compute/tf";
    return specifierOf(join(copy, module.replace(/(\.js)?$/, ".d.ts")), path);
  });
}

/**
 * Completes the declarations of a packed package. The copy of TensorFlow.js's types
 * lies in that of `@bellman/compute`.
 *
 * @param folder Folder of the package.
 * @param name Its name.
 * @param paths Its files of declarations.
 */
export async function completeDeclarations(
  folder: string,
  name: string,
  paths: readonly string[],
): Promise<void> {
  const copy = name === "@bellman/compute" ? join(folder, COPY) : undefined;
  for (const path of paths) {
    const text = await Deno.readTextFile(path);
    const complete = ignoreMissing(await importCopy(text, path, copy));
    const isModule = /^(?: *\*\/ )?(?:import|export)\b/m.test(complete);
    const changed = isModule ? complete : `${complete}\nexport {};\n`;
    if (changed !== text) await Deno.writeTextFile(path, changed);
  }
  if (copy !== undefined) await copyTypes(copy);
}
