/** Packages of npm that are looked up when they are needed. */
import { builtin, isDeno, toPath } from "@bellman/files";
import { addresses } from "./deno_packages.ts";

/**
 * Looks for a package as Node does: from this file and, as a bundle may lie
 * elsewhere or not know its address, from the program's.
 *
 * @throws {Error} If it is in neither place.
 */
function inNode<T>(look: (require: NodeJS.Require) => T): T {
  const { createRequire } = builtin("node:module");
  const [, program] = builtin("node:process").argv;
  const from = [import.meta.url, program].filter((it) => it);
  let failure: unknown;
  for (const place of from) {
    try {
      return look(createRequire(place));
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

/**
 * Loads a package in Node.
 *
 * @throws {Error} If it is not installed.
 */
export function requirePackage(name: string): unknown {
  return inNode((require) => require(name));
}

/**
 * Finds a file of a package.
 *
 * @param name Name that the file is imported by.
 * @returns Its path; undefined if it lies in no local folder.
 * @throws {Error} If the package is not installed.
 */
export function packageFile(name: string): string | undefined {
  if (!isDeno()) return inNode((require) => require.resolve(name));
  const url = new URL(addresses[name]());
  return url.protocol === "file:" ? toPath(url) : undefined;
}
