import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** Something in an installed folder that can be used from elsewhere too. */
export interface InstalledThing {
  /** What it is, such as `library`. */
  what: string;
  /** Its file or folder there. */
  file: string;
  /** The variable of the environment that leads to it elsewhere. */
  variable: string;
}

/**
 * The lines that say where things are, and how to use them from a folder that is
 * not looked into by itself.
 *
 * @param things What may be there.
 * @param dir The folder.
 * @param usual The one that is looked into.
 */
export function tellThings(
  things: readonly InstalledThing[],
  dir: string,
  usual: string,
): string[] {
  const there = things.filter(({ file }) => existsSync(`${dir}/${file}`));
  const lines = there.map(({ what, file }) => `${what} ${dir}/${file}`);
  if (there.length === 0 || dir === resolve(usual)) return lines;
  const settings = there.map(({ file, variable }) =>
    `${variable}=${dir}/${file}`
  );
  return [...lines, `To use them, set ${settings.join(" and ")}`];
}
