import { sliceNumbers } from "../copy.ts";
import { closest } from "../fields.ts";
import type { Episode } from "./episodes.ts";

/** An array of a data set; an `NpyArray` is one. */
export interface DataSetArray {
  /** The numbers, row-major. */
  readonly data: ArrayLike<number>;
  /** The length of each axis; the first one is that of steps. */
  readonly shape: readonly number[];
}

/** Names of an array, the first of which is D4RL's. */
const NAMES = {
  observations: ["observations"],
  actions: ["actions"],
  rewards: ["rewards"],
  terminations: ["terminals", "terminations"],
  truncations: ["timeouts", "truncations"],
  next: ["next_observations"],
} as const;

/** The arrays of all steps. */
interface Steps {
  readonly count: number;
  readonly observations: ArrayLike<number>;
  readonly next: ArrayLike<number> | undefined;
  readonly actions: ArrayLike<number>;
  readonly rewards: ArrayLike<number>;
  readonly terminations: ArrayLike<number>;
  readonly truncations: ArrayLike<number>;
}

/**
 * Cuts the arrays of a data set in D4RL's form, all steps of all episodes one
 * after the other, into episodes: `observations`, `actions`, `rewards`,
 * `terminals` (or `terminations`), and where there are such `timeouts` (or
 * `truncations`) and `next_observations`; other arrays are left out.
 *
 * Without `next_observations` nothing tells what was observed after an episode
 * that was cut off. Its last step is then left out, and the one before it is the
 * one that is cut off, with the observation before the last step as the final
 * one. After a step that ended an episode for good, whose next observation counts
 * for nothing, the observation before it stands again.
 *
 * Source: Fu et al. 2020, "D4RL: Datasets for Deep Data-Driven Reinforcement
 * Learning", whose `qlearning_dataset` leaves out the same steps.
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

function readSteps(arrays: Readonly<Record<string, DataSetArray>>): Steps {
  const rewards = take(arrays, NAMES.rewards);
  const count = rewards.shape[0] ?? 1;
  const read = (names: readonly string[]) => {
    const { data, shape } = take(arrays, names);
    if (shape[0] === count) return data;
    throw new RangeError(
      `Cannot read episodes with ${shape[0]} rows of '${
        nameIn(arrays, names)
      }': expected ${count} as there are rewards`,
    );
  };
  const orNothing = (names: readonly string[]) =>
    nameIn(arrays, names) === undefined ? undefined : read(names);
  return {
    count,
    observations: read(NAMES.observations),
    next: orNothing(NAMES.next),
    actions: read(NAMES.actions),
    rewards: rewards.data,
    terminations: read(NAMES.terminations),
    truncations: orNothing(NAMES.truncations) ?? new Uint8Array(count),
  };
}

function nameIn(
  arrays: Readonly<Record<string, DataSetArray>>,
  names: readonly string[],
): string | undefined {
  return names.find((name) => Object.hasOwn(arrays, name));
}

function take(
  arrays: Readonly<Record<string, DataSetArray>>,
  names: readonly string[],
): DataSetArray {
  const name = nameIn(arrays, names);
  if (name !== undefined) return arrays[name];
  const known = Object.keys(arrays);
  const hint = known.length === 0
    ? "there is no array"
    : `did you mean '${closest(names[0], known)}'?`;
  throw new RangeError(
    `Cannot read episodes without '${names[0]}': ${hint}`,
  );
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
  if (last < end) return sliceNumbers(observations, start * size, end * size);
  const before = sliceNumbers(observations, start * size, end * size);
  const after = sliceNumbers(
    next ?? observations,
    (end - 1) * size,
    end * size,
  );
  if (!ArrayBuffer.isView(before)) {
    return [...Array.from(before), ...Array.from(after)];
  }
  const from = before as Float32Array;
  const all = new (from.constructor as typeof Float32Array)(
    from.length + size,
  );
  all.set(from);
  all.set(after, from.length);
  return all;
}
