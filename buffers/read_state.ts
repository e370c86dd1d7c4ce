import { StreamSource } from "./_byte_source.ts";
import { StateReader } from "./_state_reader.ts";
import type { PlainState } from "./plain_state.ts";

/** How {@linkcode readState} names what it reads. */
export interface ReadStateOptions {
  /**
   * What error messages call the stream.
   *
   * @default "the stream"
   */
  readonly name?: string;
}

/**
 * Reads what {@linkcode writeState} wrote. Each chunk's checksum is compared
 * before anything of it is used, and the last one says that nothing is missing.
 *
 * @param stream The bytes, cut in any way; read to its end, or cancelled where
 * they are wrong.
 * @param options A name for error messages.
 * @returns The state, owned by the caller.
 * @throws {SyntaxError} If the bytes are cut off, changed, followed by others or
 * no saved state at all.
 * @throws {RangeError} If a newer version wrote them, or memory is too small for
 * an array.
 * @throws {TypeError} If the stream does not give bytes.
 *
 * @example
 * ```ts
 * import { readState, writeState } from "@bellman/buffers";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const bytes = await new Response(writeState({ x: Int32Array.of(7) })).bytes();
 * assertEquals(await readState(new Blob([bytes]).stream()), { x: Int32Array.of(7) });
 *
 * await assertRejects(
 *   () => readState(new Blob([bytes.subarray(0, 60)]).stream()),
 *   SyntaxError,
 *   "Cannot load the stream: it is cut off after 60 bytes",
 * );
 * ```
 */
export async function readState(
  stream: ReadableStream<Uint8Array>,
  { name = "the stream" }: ReadStateOptions = {},
): Promise<PlainState> {
  const reader = stream.getReader();
  try {
    return await new StateReader(new StreamSource(reader), name).read();
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    reader.releaseLock();
  }
}
