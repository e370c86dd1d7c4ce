import type { Episode, RecordedValues } from "@bellman/types";

/** Group of an HDF5 file, as in npm's `h5wasm`. */
export interface Hdf5Group {
  /**
   * Lists the names of its members.
   *
   * @returns The names, in any order.
   */
  keys(): readonly string[];
  /**
   * Returns a member: a group, an array with a `value`, or undefined.
   *
   * @param name A name of {@link keys}.
   */
  get(name: string): unknown;
  /** Attributes by name, each with a `value`; read for the seeds of episodes. */
  readonly attrs?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** Digits after it are an episode's number. */
export const PREFIX = "episode_";

/** Names of a tuple's items are this and their place. */
export const ITEM = "_index_";

/** Name of the action masks among an episode's `infos`, as in Gymnasium. */
export const MASKS = "action_mask";

/**
 * Reads the episodes of a data set of Minari, `main_data.hdf5`, in the order of
 * their numbers. Spaces of dictionaries become records, of tuples lists; 64-bit
 * and Boolean numbers become plain ones. Parts that are texts, such as MiniGrid's
 * `mission`, are left out. Of `infos`, `action_mask` is read.
 *
 * `readMinari` reads a whole folder from the disk. `@bellman/buffers/hdf5` opens single
 * files there, and `npm:h5wasm` those that were written to its own file system.
 *
 * Source: Minari's dataset standards,
 * https://minari.farama.org/content/dataset_standards.
 *
 * @param file The opened file.
 * @returns The episodes in turn, each read lazily.
 * @throws {SyntaxError} If a group or an array of an episode is missing.
 * @throws {TypeError} If an array holds something else than numbers.
 * @throws {RangeError} If a 64-bit number is above 2^53.
 *
 * @example
 * ```ts
 * import { type Hdf5Group, minariEpisodes } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * // Stands for a file that h5wasm has opened.
 * const group = (items: Record<string, unknown>): Hdf5Group => ({
 *   keys: () => Object.keys(items),
 *   get: (name) => items[name] ?? null,
 * });
 * const file = group({
 *   episode_0: group({
 *     observations: { value: Float32Array.of(0, 1, 2) },
 *     actions: { value: BigInt64Array.of(1n, 0n) },
 *     rewards: { value: Float64Array.of(0, 1) },
 *     terminations: { value: [false, true] },
 *     truncations: { value: [false, false] },
 *   }),
 * });
 * const [episode] = minariEpisodes(file);
 * assertEquals(episode.actions, Float64Array.of(1, 0));
 * assertEquals(episode.terminations, [0, 1]);
 * ```
 */
export function* minariEpisodes(file: Hdf5Group): Generator<Episode> {
  for (const number of episodeNumbers(file)) {
    const name = PREFIX + number, group = file.get(name);
    if (!isGroup(group)) throw damaged(name, "a group");
    const infos = group.get("infos"), { seed } = group.attrs ?? {};
    const hasMasks = isGroup(infos) && infos.keys().includes(MASKS);
    const read = (part: string, rows?: number) =>
      readNumbers(group.get(part), `${name}/${part}`, rows);
    const rewards = read("rewards"), steps = rewards.length;
    const space = (part: string, rows: number) =>
      readSpace(group.get(part), `${name}/${part}`, rows);
    yield {
      observations: space("observations", steps + 1),
      actions: space("actions", steps),
      rewards,
      terminations: read("terminations", steps),
      truncations: read("truncations", steps),
      ...hasMasks && { actionMasks: read(`infos/${MASKS}`, steps + 1) },
      ...seed && { seed: Number(seed.value) },
    };
  }
}

/** Lists the numbers of a file's episodes. */
export function episodeNumbers(file: Pick<Hdf5Group, "keys">): number[] {
  return file.keys()
    .filter((key) => /^episode_\d+$/.test(key))
    .map((key) => Number(key.slice(PREFIX.length)))
    .sort((a, b) => a - b);
}

function isGroup(item: unknown): item is Hdf5Group {
  const { keys, get } = (item ?? {}) as Partial<Hdf5Group>;
  return typeof keys === "function" && typeof get === "function";
}

/** Reads the values of a space, without those that are texts. */
function readSpace(item: unknown, path: string, rows: number): RecordedValues {
  if (!isGroup(item)) return readNumbers(item, path, rows);
  const names = item.keys();
  const isTuple = names.length > 0 && names.every((it) => it.startsWith(ITEM));
  const inOrder = isTuple ? names.map((_, i) => ITEM + i) : names;
  const parts = inOrder.flatMap((name): [string, RecordedValues][] => {
    const part = item.get(name), inner = `${path}/${name}`;
    if (isGroup(part)) return [[name, readSpace(part, inner, rows)]];
    const value = valueOf(part, inner, rows);
    return isText(value) ? [] : [[name, numbersOf(value, inner)]];
  });
  return isTuple ? parts.map(([, it]) => it) : Object.fromEntries(parts);
}

function isText(value: unknown): boolean {
  return Array.isArray(value) && typeof value[0] === "string";
}

function readNumbers(
  item: unknown,
  path: string,
  rows?: number,
): ArrayLike<number> {
  return numbersOf(valueOf(item, path, rows), path);
}

/** Reads the values of an array, which may take long. */
function valueOf(item: unknown, path: string, rows?: number): unknown {
  if (item === null || item === undefined || isGroup(item)) {
    throw damaged(path, "an array");
  }
  const { shape } = item as { readonly shape?: readonly number[] };
  if (rows !== undefined && shape && shape[0] !== rows) {
    throw new SyntaxError(
      `Cannot read '${path}' of shape [${shape}]: expected ${rows} rows`,
    );
  }
  try {
    return (item as { value?: unknown }).value;
  } catch (error) {
    // Of float16, which h5wasm does not read.
    throw new TypeError(`Cannot read '${path}': ${(error as Error).message}`);
  }
}

function numbersOf(value: unknown, path: string): ArrayLike<number> {
  if (value instanceof BigInt64Array || value instanceof BigUint64Array) {
    return fromBig(value, path);
  }
  if (ArrayBuffer.isView(value)) return value as Float32Array;
  const first = Array.isArray(value) ? value[0] : value;
  if (Array.isArray(value) && /number|boolean/.test(typeof first)) {
    return value.map(Number);
  }
  throw new TypeError(
    `Cannot read '${path}' of ${typeof first} values: expected numbers`,
  );
}

function fromBig(
  values: BigInt64Array | BigUint64Array,
  path: string,
): Float64Array {
  const numbers = Float64Array.from(values, Number);
  const above = numbers.findIndex((value) => !Number.isSafeInteger(value));
  if (above < 0) return numbers;
  throw new RangeError(
    `Cannot read '${path}': its number ${above} is ${
      values[above]
    }, expected at most 2^53`,
  );
}

function damaged(path: string, wanted: string): SyntaxError {
  return new SyntaxError(
    `Cannot read '${path}' of a Minari data set: expected ${wanted} of that name`,
  );
}
