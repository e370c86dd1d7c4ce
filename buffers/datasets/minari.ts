import type { Episode } from "@bellman/types";
import { hintAt } from "@bellman/files/options";
import type { FieldValues } from "../fields.ts";

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

/** Options of {@linkcode minariEpisodes}. */
export interface MinariOptions {
  /**
   * Parts of dictionary observations to read, by name.
   *
   * @default all but those that are texts
   */
  readonly parts?: readonly string[];
  /**
   * Receives a line for each part that is skipped as text.
   *
   * @default console.warn
   */
  readonly onNotice?: (line: string) => void;
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
 * files there, and `npm:h5wasm` those that were written to its own file system:
 *
 * ```ts ignore
 * import { openFile } from "@bellman/buffers/hdf5";
 *
 * const file = await openFile("main_data.hdf5", "r");
 * loadEpisodes(buffer, minariEpisodes(file));
 * ```
 *
 * Source: Minari's dataset standards,
 * https://minari.farama.org/content/dataset_standards.
 *
 * @param file The opened file.
 * @param options Parts of the observations.
 * @returns The episodes in turn, each read lazily.
 * @throws {SyntaxError} If a group or an array of an episode is missing.
 * @throws {TypeError} If an array holds something else than numbers.
 * @throws {RangeError} If a 64-bit number is above 2^53, or there is no such part.
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
export function* minariEpisodes(
  file: Hdf5Group,
  options: MinariOptions = {},
): Generator<Episode> {
  // deno-lint-ignore no-console -- by default notices go there
  const { parts, onNotice = (line) => console.warn(line) } = options;
  const noticed = new Set<string>();
  const onText = (path: string) => {
    if (noticed.has(path)) return;
    noticed.add(path);
    onNotice(
      `The part '${path}' of a Minari data set is a text: it is left out`,
    );
  };
  const numbers = file.keys()
    .filter((key) => /^episode_\d+$/.test(key))
    .map((key) => Number(key.slice(PREFIX.length)))
    .sort((a, b) => a - b);
  for (const number of numbers) {
    const name = PREFIX + number;
    const group = file.get(name);
    if (!isGroup(group)) throw damaged(name, "a group");
    const infos = group.get("infos"), { seed } = group.attrs ?? {};
    const hasMasks = isGroup(infos) && infos.keys().includes(MASKS);
    yield {
      observations: readSpace(group, name, "observations", { parts, onText }),
      actions: readSpace(group, name, "actions", { onText }),
      rewards: readNumbers(group, name, "rewards"),
      terminations: readNumbers(group, name, "terminations"),
      truncations: readNumbers(group, name, "truncations"),
      ...hasMasks &&
        { actionMasks: readNumbers(infos, `${name}/infos`, MASKS) },
      ...seed && { seed: Number(seed.value) },
    };
  }
}

function isGroup(item: unknown): item is Hdf5Group {
  const { keys, get } = (item ?? {}) as Partial<Hdf5Group>;
  return typeof keys === "function" && typeof get === "function";
}

/** Choice of parts, and what is told of those that are texts. */
interface Parts {
  readonly parts?: readonly string[];
  readonly onText: (path: string) => void;
}

function readSpace(
  parent: Hdf5Group,
  path: string,
  name: string,
  { parts, onText }: Parts,
): FieldValues {
  const inner = `${path}/${name}`, item = parent.get(name);
  if (!isGroup(item)) {
    if (parts === undefined) return readNumbers(parent, path, name);
    throw new RangeError(
      `Cannot read the parts ${
        parts.join(", ")
      } of '${inner}': it is one array`,
    );
  }
  const keys = item.keys();
  const isTuple = keys.length > 0 && keys.every((key) => key.startsWith(ITEM));
  const all = isTuple ? keys.map((_, i) => ITEM + i) : keys;
  const unknown = parts?.find((it) => !all.includes(it));
  if (unknown !== undefined) {
    throw new RangeError(
      `Cannot read '${inner}/${unknown}': ${hintAt(unknown, all)}`,
    );
  }
  const read = (parts ?? all).flatMap((key): [string, FieldValues][] => {
    if (isGroup(item.get(key))) {
      return [[key, readSpace(item, inner, key, { onText })]];
    }
    const value = valueOf(item, inner, key);
    // A text that was chosen is refused.
    if (parts !== undefined || !isText(value)) {
      return [[key, numbersOf(value, `${inner}/${key}`)]];
    }
    onText(`${inner}/${key}`.replace(/^.*?\//, ""));
    return [];
  });
  if (read.length === 0 && all.length > 0) {
    throw new TypeError(
      `Cannot read '${inner}': each of its parts is a text, expected numbers`,
    );
  }
  return isTuple ? read.map(([, values]) => values) : Object.fromEntries(read);
}

function isText(value: unknown): boolean {
  return typeof (Array.isArray(value) ? value[0] : value) === "string";
}

function readNumbers(
  parent: Hdf5Group,
  path: string,
  name: string,
): ArrayLike<number> {
  return numbersOf(valueOf(parent, path, name), `${path}/${name}`);
}

/** Reads the values of an array, which may take long. */
function valueOf(parent: Hdf5Group, path: string, name: string): unknown {
  const item = parent.get(name) as { value?: unknown } | null | undefined;
  if (item === null || item === undefined || isGroup(item)) {
    throw damaged(`${path}/${name}`, "an array");
  }
  try {
    return item.value;
  } catch (error) {
    // Of float16, which h5wasm does not read.
    const { message } = error as Error;
    throw new TypeError(`Cannot read '${path}/${name}': ${message}`);
  }
}

function numbersOf(value: unknown, inner: string): ArrayLike<number> {
  if (value instanceof BigInt64Array || value instanceof BigUint64Array) {
    return fromBig(value, inner);
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return value as Float32Array;
  }
  const plain = Array.isArray(value) &&
    value.every((it) => typeof it === "number" || typeof it === "boolean");
  if (plain) return value.map(Number);
  const first = Array.isArray(value) ? value[0] : value;
  throw new TypeError(
    `Cannot read '${inner}' of ${typeof first} values: expected numbers`,
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
