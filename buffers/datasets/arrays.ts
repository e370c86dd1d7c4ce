import type { Episode } from "@bellman/types";
import { typoOf } from "@bellman/files/options";
import { sliceNumbers } from "../copy.ts";

/** Array of a data set; an `NpyArray` is one. */
export interface DataSetArray {
  /** The numbers, row-major. */
  readonly data: ArrayLike<number>;
  /** The length of each axis; the first one is that of steps. */
  readonly shape: readonly number[];
}

/**
 * Splits the arrays of a data set in D4RL's form into episodes: `observations`,
 * `actions`, `rewards`, `terminals` (or `terminations`), and optionally `timeouts` (or
 * `truncations`) and `next_observations`; other arrays are ignored.
 *
 * Without `next_observations` the final observation of a truncated episode is unknown.
 * Its last step is then dropped, and the one before it is truncated, with the last
 * step's observation as the final one. After a termination, whose next observation does
 * not matter, the last observation is repeated.
 *
 * Source: Fu et al. 2020, "D4RL: Datasets for Deep Data-Driven Reinforcement Learning",
 * whose `qlearning_dataset` drops the same steps.
 *
 * @param arrays Arrays by name, such as `loadNpz` gives.
 * @returns The episodes in turn; views of typed arrays where possible.
 * @throws {RangeError} If an array is missing, or has not as many rows as there
 * are rewards.
 *
 * @example
 * ```ts
 * import { episodesFromArrays } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const row = (...data: number[]) => ({ data, shape: [data.length] });
 * const [first, second] = episodesFromArrays({
 *   observations: row(0, 1, 2, 10, 11, 12),
 *   actions: row(5, 6, 7, 8, 9, 10),
 *   rewards: row(0, 0, 1, 0, 0, 0),
 *   terminals: row(0, 0, 1, 0, 0, 0),
 *   timeouts: row(0, 0, 0, 0, 0, 1),
 * });
 * assertEquals(first.observations, [0, 1, 2, 2]);
 * assertEquals(second.observations, [10, 11, 12]);
 * assertEquals(second.truncations, Uint8Array.of(0, 1));
 * ```
 */
export function episodesFromArrays(
  arrays: Readonly<Record<string, DataSetArray>>,
): Iterable<Episode> {
  return cut(readSteps(arrays));
}

/** Arrays of all steps. */
type Steps = ReturnType<typeof readSteps>;

function readSteps(arrays: Readonly<Record<string, DataSetArray>>) {
  const count = arrays.rewards?.shape[0] ?? 1;
  /** Reads the array of the first of some names that there is. */
  const read = (...names: string[]): ArrayLike<number> | undefined => {
    const name = names.find((it) => Object.hasOwn(arrays, it));
    if (name === undefined) return undefined;
    const { data, shape: [rows = 1] } = arrays[name];
    if (rows === count) return data;
    throw new RangeError(
      `Cannot read episodes with ${rows} rows of '${name}': expected ${count} as there are rewards`,
    );
  };
  const need = (...names: string[]) => {
    const array = read(...names);
    if (array !== undefined) return array;
    const known = Object.keys(arrays), near = typoOf(names[0], known);
    const hint = near === undefined
      ? `there are ${known.join(", ") || "no arrays"}`
      : `did you mean '${near}'?`;
    throw new RangeError(
      `Cannot read episodes without '${names[0]}': ${hint}`,
    );
  };
  return {
    count,
    rewards: need("rewards"),
    observations: need("observations"),
    next: read("next_observations"),
    actions: need("actions"),
    terminations: need("terminals", "terminations"),
    truncations: read("timeouts", "truncations") ?? new Uint8Array(count),
  };
}

function* cut(steps: Steps): Generator<Episode> {
  const { count, terminations, truncations } = steps;
  let start = 0;
  for (let step = 0; step < count; step++) {
    const terminated = Boolean(terminations[step]);
    if (!terminated && !truncations[step] && step + 1 < count) continue;
    yield* episode(steps, start, step + 1, terminated);
    start = step + 1;
  }
}

/** Yields an episode of steps `start` to `end - 1`; none where only a last step of unknown end is left. */
function* episode(
  steps: Steps,
  start: number,
  end: number,
  terminated: boolean,
): Generator<Episode> {
  const last = terminated || steps.next !== undefined ? end : end - 1;
  const length = last - start;
  if (length === 0) return;
  const flags = new Uint8Array(length);
  flags[length - 1] = 1;
  const none = new Uint8Array(length);
  const size = steps.actions.length / steps.count;
  yield {
    observations: observationsOf(steps, start, last, end),
    actions: sliceNumbers(steps.actions, start * size, last * size),
    rewards: sliceNumbers(steps.rewards, start, last),
    terminations: terminated ? flags : none,
    truncations: terminated ? none : flags,
  };
}

/** Takes observations of steps `start` to `last - 1`, and the one after them. */
function observationsOf(
  { observations, next, count }: Steps,
  start: number,
  last: number,
  end: number,
): ArrayLike<number> {
  const size = observations.length / count;
  const before = sliceNumbers(observations, start * size, end * size);
  if (last < end) return before;
  const from = next ?? observations;
  const after = sliceNumbers(from, (end - 1) * size, end * size);
  if (!ArrayBuffer.isView(before)) {
    return [...Array.from(before), ...Array.from(after)];
  }
  const ArrayType = before.constructor as Float32ArrayConstructor;
  const all = new ArrayType(before.length + size);
  all.set(before);
  all.set(after, before.length);
  return all;
}
