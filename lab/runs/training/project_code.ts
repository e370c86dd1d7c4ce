/** Trusted code: that of the project of the current folder. */
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

/** Files that mark a folder of runs, shared agents, searches or experiments. */
const OF_OTHERS = [
  ...[["run.json"], ["config.sig"], ["checkpoints/best.safetensors"]],
  ...[["agent.safetensors"], ["trials.jsonl"], ["plan.yaml", "results.csv"]],
];

/** Returns the real path of a file or folder, as far as it exists. */
function realPath(path: string): string {
  const whole = resolve(path);
  return existsSync(whole) || dirname(whole) === whole
    ? realpathSync(whole)
    : join(realPath(dirname(whole)), basename(whole));
}

/** Lists the folders above a path, nearest first. */
function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** Returns the project's folder: that of its `deno.json`, or the current one. */
function projectFolder(): string {
  const current = realPath(".");
  return [current, ...foldersAbove(current)].find((folder) =>
    ["deno.json", "deno.jsonc"].some((name) => existsSync(join(folder, name)))
  ) ?? current;
}

/** Returns the path segments from a folder to a path below it; empty if it is elsewhere. */
function partsBelow(folder: string, path: string): string[] {
  const way = relative(folder, path), parts = way.split(sep);
  return way === "" || parts[0] === ".." || isAbsolute(way) ? [] : parts;
}

/**
 * Returns true for a file of the project, except in a folder of runs, and except in the
 * folder of the run or plan that names it: both may have been copied from elsewhere
 * together.
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
 * Lists the code and files that are not the project's own.
 *
 * @param code Code of a run or a plan.
 * @param owner Path of the run or plan.
 */
export function foreignCode(
  { modules, ...rest }: RunCode,
  owner: string | undefined,
): RunCode {
  return { ...rest, modules: modules.filter((it) => !isOfProject(it, owner)) };
}
