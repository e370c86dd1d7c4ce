/** Returns the package's folder in the npm cache, if it is known. */
function wasmPackage(): string | undefined {
  try {
    const url = new URL(import.meta.resolve("@tensorflow/tfjs-backend-wasm"));
    return url.protocol === "file:" ? new URL(".", url).pathname : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks that WebAssembly's binary may be read; at a terminal, Deno asks.
 * Without this check the binary's own loader prints its complaint.
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

/** Tells whether Deno would ask at the terminal before loading a native library. */
export function wouldAskForFfi(): boolean {
  return Deno.permissions.querySync({ name: "ffi" }).state === "prompt";
}
