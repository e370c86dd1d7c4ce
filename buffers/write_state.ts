import { stateChunks } from "./_state_chunks.ts";
import type { PlainState } from "./plain_state.ts";

/**
 * A state as a stream of bytes with checksums, for a file, a socket or a
 * `CompressionStream`. Arrays are not copied but for those in shared memory, one
 * MiB at a time: leave the state as it is until the stream has ended.
 *
 * @param state What the `save()` of a buffer gave.
 * @returns The bytes; {@linkcode readState} reads them.
 * @throws {TypeError} If a value is not plain, named by its path.
 *
 * @example
 * ```ts
 * import { readState, writeState } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const state = { length: 2, rewards: Float32Array.of(0.5, -1) };
 * const small = writeState(state)
 *   .pipeThrough(new CompressionStream("gzip"))
 *   .pipeThrough(new DecompressionStream("gzip"));
 * assertEquals(await readState(small), state);
 * ```
 */
export function writeState(
  state: PlainState,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = stateChunks(state)[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = chunks.next();
      if (done) controller.close();
      else {
        for (const piece of value) {
          controller.enqueue(piece as Uint8Array<ArrayBuffer>);
        }
      }
    },
  });
}
