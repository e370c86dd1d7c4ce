/**
 * Writes to stderr. Where nobody reads it, as when the reader of a pipe has gone, it
 * is lost: that is no reason to end anything.
 */
export function printToStderr(bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length;) {
      at += Deno.stderr.writeSync(bytes.subarray(at));
    }
  } catch {
    // There is no other place to tell of it.
  }
}
