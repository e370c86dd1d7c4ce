import { existsSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url).pathname;

/** A file's name for an environment or a preset, without an ending. */
export function fileNameOf(name: string): string {
  return name.replaceAll(/[/:]/g, "-");
}

/** The folder of an algorithm's package, below `algorithms`. */
export function folderOf(algorithm: string): string {
  return algorithm.replaceAll("-", "_");
}

/** The package of several algorithms that an algorithm is of, but does not name. */
export function familyOf(algorithm: string): string | undefined {
  if (existsSync(`${ROOT}algorithms/${folderOf(algorithm)}`)) return undefined;
  if (["bc", "iql"].includes(algorithm)) return "offline";
  return algorithm === "ddpg" ? "td3" : "async";
}

/** The folder of an algorithm's results. */
export function resultsOf(algorithm: string): string {
  const folder = folderOf(familyOf(algorithm) ?? algorithm);
  return `${ROOT}algorithms/${folder}/results`;
}
