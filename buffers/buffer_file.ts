import { loadState, rewordError, saveState, toPath } from "@bellman/files";
import type { StateTree } from "@bellman/types";

/**
 * Buffer that {@linkcode saveBuffer} and {@linkcode loadBuffer} accept: any buffer of
 * this package, or another object with `save` and `load`.
 */
export interface SavableBuffer<State> {
  /**
   * Saves its contents.
   *
   * @param options Arrays are copied unless `copy` is false; buffers that do not
   * know the option copy them.
   * @returns Plain data.
   */
  save(options?: { readonly copy?: boolean }): State;
  /**
   * Restores a saved state; one that does not fit throws and changes nothing.
   *
   * @param state Plain data; copied.
   */
  load(state: State): void;
}

/** Options of {@linkcode saveBuffer}. */
export interface SaveBufferOptions {
  /**
   * Copy the buffer's arrays first, so that it may change while the file is written.
   * Without a copy almost no memory is needed, but the buffer must not change until the
   * save has ended.
   *
   * @default true
   */
  readonly copy?: boolean;
}

/**
 * Saves a buffer to a file atomically: an interrupted save leaves the old file, and at
 * most a file `PATH.tmp` next to it. The file contains the buffer as it is at the call,
 * even if it changes while the file is written. Deno needs permission to read and write
 * the file's folder.
 *
 * @param buffer Buffer to save.
 * @param path Path of the file; its folder must exist.
 * @param options Copy the arrays first, or not.
 * @throws {TypeError} If the state is not plain data, or the runtime has no files.
 * @throws {Error} System error if the file cannot be written.
 *
 * @example
 * ```ts
 * import { loadBuffer, RolloutBuffer, saveBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const options = {
 *   numEnvs: 1,
 *   numSteps: 2,
 *   fields: { reward: { shape: [], dtype: "float32" } },
 * } as const;
 * const buffer = new RolloutBuffer(options);
 * buffer.add({ reward: [0.5] });
 *
 * const folder = await Deno.makeTempDir();
 * await saveBuffer(buffer, `${folder}/rollout.buffer`);
 *
 * const other = new RolloutBuffer(options);
 * await loadBuffer(other, `${folder}/rollout.buffer`);
 * assertEquals(other.save(), buffer.save());
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export async function saveBuffer<State>(
  buffer: SavableBuffer<State>,
  path: string | URL,
  { copy = true }: SaveBufferOptions = {},
): Promise<void> {
  await saveState(buffer.save({ copy }) as StateTree, path);
}

/**
 * Restores a buffer from a file of {@linkcode saveBuffer}. If that fails, the buffer
 * stays as it was.
 *
 * @param buffer Buffer with the same options as the saved one.
 * @param path Path of the file.
 * @throws {SyntaxError} If the file is truncated, damaged or not a saved buffer.
 * @throws {RangeError} If a newer version wrote it, memory is too small for it,
 * or its sizes or names are not the buffer's.
 * @throws {TypeError} If it holds something else than such a buffer's state.
 * @throws {Error} System error if the file cannot be read.
 *
 * @example
 * ```ts
 * import { loadBuffer, RolloutBuffer } from "@bellman/buffers";
 * import { assertRejects } from "@std/assert";
 *
 * const path = await Deno.makeTempFile();
 * await Deno.writeTextFile(path, "not a buffer");
 * const fields = { reward: { shape: [], dtype: "float32" } } as const;
 * const buffer = new RolloutBuffer({ numEnvs: 1, numSteps: 2, fields });
 * await assertRejects(() => loadBuffer(buffer, path), SyntaxError, "it is cut off");
 * await Deno.remove(path);
 * ```
 */
export async function loadBuffer<State>(
  buffer: SavableBuffer<State>,
  path: string | URL,
): Promise<void> {
  const state = await loadState(path);
  try {
    buffer.load(state as State);
  } catch (error) {
    // A buffer's error, which knows nothing of files.
    throw rewordError(error, (reason) => `${reason} (from '${toPath(path)}')`);
  }
}
