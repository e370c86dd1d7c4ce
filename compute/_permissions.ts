/** The package's folder in the npm cache; undefined where that is not known. */
function wasmPackage(): string | undefined {
  try {
    const url = new URL(import.meta.resolve("@tensorflow/tfjs-backend-wasm"));
    return url.protocol === "file:" ? new URL(".", url).pathname : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Throws unless WebAssembly's binary may be read; at a terminal, Deno asks.
 * Without this check the binary's own loader prints what it thinks of it.
 *
 * @throws {Error} If the permission is not given.
 */
export function checkWasmIsReadable(): void {
  const path = wasmPackage();
  if (path === undefined) return;
  const { state } = Deno.permissions.requestSync({ name: "read", path });
  if (state === "granted") return;
  throw new Error(
    `its binary cannot be read: allow it with --allow-read=${path}`,
  );
}

/** Whether a native library could only be loaded by asking at the terminal. */
export function wouldAskForFfi(): boolean {
  return Deno.permissions.querySync({ name: "ffi" }).state === "prompt";
}
