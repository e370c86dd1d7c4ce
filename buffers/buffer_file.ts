import { loadState, rewordError, saveState, toPath } from "@bellman/files";
import type { StateTree } from "@bellman/types";

/**
 * Buffer that {@linkcode saveBuffer} and {@linkcode loadBuffer} take: every buffer
 * of this package, and anything else that saves and loads its state.
 */
export interface SavableBuffer<State> {
  /**
   * Saves everything that it holds.
   *
   * @param options Arrays are copied unless `copy` is false; buffers that do not
   * know the option copy them.
   * @returns Plain data.
   */
  save(options?: { readonly copy?: boolean }): State;
  /**
   * Restores what {@link save} returned; a state that does not fit throws and
   * changes nothing.
   *
   * @param state Plain data; copied.
   */
  load(state: State): void;
}

/** Options of {@linkcode saveBuffer}. */
export interface SaveBufferOptions {
  /**
   * True to copy the buffer's arrays first, so that it may change while the file is
   * written. Without it next to no memory is needed, and the buffer must stay as it
   * is until the save has ended: a change would be saved half.
   *
   * @default true
   */
  readonly copy?: boolean;
}

/**
 * Saves a buffer to a file, whose place it takes only when it is complete and on
 * the disk: a save that is interrupted, whenever that is, leaves the file that
 * was there, and at most a file `PATH.tmp` beside it. The file has the buffer as
 * it is at the call, even if it changes while the file is written.
 *
 * Deno needs the permission to read and write the file's folder.
 *
 * @param buffer A buffer.
 * @param path The file; its folder exists.
 * @param options Save from copies of the arrays, or from themselves.
 * @throws {TypeError} If the state is not plain, or the runtime has no files.
 * @throws {Error} The system's error where the file cannot be written.
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
 * Restores a buffer from a file that {@linkcode saveBuffer} wrote. A file that
 * cannot be loaded leaves the buffer as it was.
 *
 * @param buffer A buffer made with the options of the one that was saved.
 * @param path The file.
 * @throws {SyntaxError} If the file is cut off, damaged or no saved buffer.
 * @throws {RangeError} If a newer version wrote it, memory is too small for it,
 * or its sizes or names are not the buffer's.
 * @throws {TypeError} If it holds something else than such a buffer's state.
 * @throws {Error} The system's error where the file cannot be read.
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
