import { builtin } from "@bellman/files";

/**
 * Writes to stderr. Where nobody reads it, as when the reader of a pipe has gone, it
 * is lost: that is no reason to end anything.
 */
export function printToStderr(bytes: Uint8Array): void {
  try {
    const { writeSync } = builtin("node:fs");
    for (let at = 0; at < bytes.length;) at += writeSync(2, bytes, at);
  } catch {
    // There is no other place to tell of it.
  }
}
