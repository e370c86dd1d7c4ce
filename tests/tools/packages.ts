import { existsSync } from "node:fs";

/** One published member of the workspace. */
export interface Package {
  /** Its name with the scope, such as `@bellman/envs`. */
  name: string;
  /** Its version, such as `0.1.0`. */
  version: string;
  /** Its folder, relative to the root. */
  folder: string;
  /** Its entry points, relative to the root. */
  entryPoints: string[];
  /** Names that the entry points are imported by, in the same order. */
  imports: string[];
  /** True for an algorithm: a folder of `algorithms` with a `config.ts`. */
  isAlgorithm: boolean;
}

/** The root of the checkout. */
export const ROOT: string = new URL("../../", import.meta.url).pathname;

/**
 * The lock of tests and tools. Deno fetches all that a lock names before it runs a
 * command, so what only they import is not in the one that `train` has.
 */
export const LOCK: string = `--lock=${ROOT}tests/deno.lock`;

/** Version of koffi, which `deno.json` lacks: Deno would fetch it in vain. */
export const KOFFI_VERSION = "^3.3.4";

/** Lists the folders of the workspace; an entry may end in an asterisk. */
export function workspaceFolders(): string[] {
  const { workspace } = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`));
  return (workspace as string[]).flatMap((entry) => {
    const folder = entry.replace(/^\.\//, "");
    if (!folder.endsWith("/*")) return [folder];
    const parent = folder.slice(0, -2);
    return [...Deno.readDirSync(ROOT + parent)]
      .filter((it) => it.isDirectory)
      .map(({ name }) => `${parent}/${name}`)
      .sort();
  });
}

/** The published packages, in the order in which `deno.json` lists them. */
export async function packages(): Promise<Package[]> {
  const found: Package[] = [];
  for (const folder of workspaceFolders()) {
    const config = JSON.parse(
      await Deno.readTextFile(`${ROOT}${folder}/deno.json`),
    );
    if (config.license === undefined) continue;
    const exported: Record<string, string> = typeof config.exports === "string"
      ? { ".": config.exports }
      : config.exports;
    found.push({
      name: config.name,
      version: config.version,
      folder,
      isAlgorithm: folder.startsWith("algorithms/") &&
        existsSync(`${ROOT}${folder}/config.ts`),
      entryPoints: Object.values(exported)
        .map((it) => `${folder}/${it.replace(/^\.\//, "")}`),
      imports: Object.keys(exported).map((it) => config.name + it.slice(1)),
    });
  }
  return found;
}

/** Paths of the sources below a folder, without tests, benches and what they load. */
export function sourcesIn(folder: string): string[] {
  if (folder.endsWith("/testdata")) return [];
  return [...Deno.readDirSync(ROOT + folder)].flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) return sourcesIn(path);
    return /(?<!_test|_bench)\.tsx?$/.test(entry.name) ? [path] : [];
  }).sort();
}
