/** Code that needs no word of the user's: that of the project that the command runs in. */
import { existsSync, realpathSync } from "node:fs";
import {
  basename,
  dirname,
  isAbsolute,
  join,
  relative,
  resolve,
  sep,
} from "node:path";
import { fileURLToPath } from "node:url";
import type { RunCode } from "./environment_modules.ts";

/** Names that the folder of a run, a shared agent, a search or an experiment has together. */
const OF_OTHERS = [
  ...[["run.json"], ["config.sig"], ["checkpoints/best.safetensors"]],
  ...[["agent.safetensors"], ["trials.jsonl"], ["plan.yaml", "results.csv"]],
];

/** Returns the path of a file or a folder as it really is, as far as it exists. */
function realPath(path: string): string {
  const whole = resolve(path);
  return existsSync(whole) || dirname(whole) === whole
    ? realpathSync(whole)
    : join(realPath(dirname(whole)), basename(whole));
}

/** Lists the folders above a path, the nearest first. */
function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** Returns the folder of the project: that of its `deno.json`, or the current one. */
function projectFolder(): string {
  const current = realPath(".");
  return [current, ...foldersAbove(current)].find((folder) =>
    ["deno.json", "deno.jsonc"].some((name) => existsSync(join(folder, name)))
  ) ?? current;
}

/** Returns the parts of the way from a folder to a path; none where it is not below. */
function partsBelow(folder: string, path: string): string[] {
  const way = relative(folder, path), parts = way.split(sep);
  return way === "" || parts[0] === ".." || isAbsolute(way) ? [] : parts;
}

/**
 * True for a file of the project, but not for one in the folder of a run or of what
 * holds runs, wherever that lies, nor for one in the same folder of the project as the
 * run or the plan that names it: both may have come from elsewhere together.
 */
function isOfProject(url: string, owner: string | undefined): boolean {
  if (!url.startsWith("file:")) return false;
  const root = projectFolder(), path = realPath(fileURLToPath(url));
  const [part] = partsBelow(root, path);
  if (part === undefined) return false;
  const isOfOthers = foldersAbove(path).some((folder) =>
    OF_OTHERS.some((names) =>
      names.every((name) => existsSync(join(folder, name)))
    )
  );
  if (isOfOthers) return false;
  if (owner === undefined) return true;
  const namer = realPath(owner);
  return partsBelow(namer, path).length === 0 &&
    partsBelow(root, namer)[0] !== part;
}

/**
 * Returns the code and the files that are not the project's own.
 *
 * @param code All that a run or a plan names.
 * @param owner Path of the run or the plan.
 */
export function foreignCode(
  { modules, ...rest }: RunCode,
  owner: string | undefined,
): RunCode {
  return { ...rest, modules: modules.filter((it) => !isOfProject(it, owner)) };
}
