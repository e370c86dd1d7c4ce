import type { Episode } from "@bellman/types";
import { sliceNumbers } from "../copy.ts";
import type { FieldValues } from "../fields.ts";
import type { RowTarget } from "./rows.ts";

/** Buffer for {@linkcode loadEpisodes}, such as a `ReplayBuffer` of one environment. */
export interface EpisodeBuffer extends RowTarget {
  /** Number of rows. */
  readonly length: number;
  /** Capacity in rows. */
  readonly capacity: number;
  /** True if each further row replaces an old one. */
  readonly full: boolean;
  /** Number of parallel streams; must be 1. */
  readonly numEnvs?: number;
}

/** Field names of {@linkcode loadEpisodes}. */
export interface EpisodeFields {
  /**
   * Name of the observation before a step; null for none, as in the others.
   *
   * @default "observation"
   */
  readonly observation?: string | null;
  /**
   * Name of the action.
   *
   * @default "action"
   */
  readonly action?: string | null;
  /**
   * Name of the reward.
   *
   * @default "reward"
   */
  readonly reward?: string | null;
  /**
   * Name of the termination flag.
   *
   * @default "terminated"
   */
  readonly terminated?: string | null;
  /**
   * Name of the truncation flag.
   *
   * @default "truncated"
   */
  readonly truncated?: string | null;
  /**
   * Name of the next observation.
   *
   * @default "nextObservation"
   */
  readonly nextObservation?: string | null;
}

/** Options of {@linkcode loadEpisodes}. */
export interface LoadEpisodesOptions {
  /**
   * Names of the buffer's fields.
   *
   * @default {}
   */
  readonly fields?: EpisodeFields;
}

/**
 * Adds episodes to a buffer, one transition a row, in order. An episode whose last step
 * neither terminates nor truncates it was cut by the recording, and counts as
 * truncated, so that its last row does not run into the next episode.
 *
 * @param buffer Buffer of one environment.
 * @param episodes Episodes, possibly generated lazily.
 * @param options Names of the buffer's fields.
 * @returns Number of recorded steps.
 * @throws {RangeError} If an episode does not fit in any more, its arrays do not
 * fit each other, or it ends before its last step. Episodes before it stay.
 * @throws {TypeError} If the buffer records several environments.
 *
 * @example
 * ```ts
 * import { ReplayBuffer } from "@bellman/buffers";
 * import { loadEpisodes } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new ReplayBuffer({
 *   capacity: 10,
 *   fields: {
 *     observation: { shape: [2], dtype: "float32" },
 *     action: { shape: [], dtype: "int32" },
 *     reward: { shape: [], dtype: "float32" },
 *     terminated: { shape: [], dtype: "uint8" },
 *     truncated: { shape: [], dtype: "uint8" },
 *   },
 *   episodes: { next: { nextObservation: "observation" } },
 * });
 * const steps = loadEpisodes(buffer, [{
 *   observations: [0, 0, 1, 1, 2, 2],
 *   actions: [7, 8],
 *   rewards: [0, 1],
 *   terminations: [0, 1],
 *   truncations: [0, 0],
 * }]);
 * assertEquals(steps, 2);
 * assertEquals(buffer.gather([1]).nextObservation, Float32Array.of(2, 2));
 * ```
 */
export function loadEpisodes(
  buffer: EpisodeBuffer,
  episodes: Iterable<Episode>,
  { fields = {} }: LoadEpisodesOptions = {},
): number {
  const { numEnvs = 1 } = buffer;
  if (numEnvs !== 1) {
    throw new TypeError(
      `Cannot load episodes into a buffer of ${numEnvs} environments: expected one`,
    );
  }
  let loaded = 0;
  let number = 0;
  for (const episode of episodes) {
    const steps = checkEpisode(episode, number);
    const room = buffer.full ? 0 : buffer.capacity - buffer.length;
    if (steps > room) {
      throw new RangeError(
        `Cannot load ${steps} steps of episode ${number} into a buffer with room for ${room}`,
      );
    }
    if (steps > 0) buffer.addBatch(rowsOf(episode, fields, number), steps);
    loaded += steps;
    number++;
  }
  return loaded;
}

/** Checks that flags go with the rewards; returns the number of steps. */
export function checkEpisode(
  { rewards, terminations, truncations }: Episode,
  number: number,
  action = "load",
): number {
  const steps = rewards.length;
  const flags = { terminations, truncations };
  for (const [name, { length }] of Object.entries(flags)) {
    if (length === steps) continue;
    throw new RangeError(
      `Cannot ${action} episode ${number}: it has ${length} ${name}, expected ${steps} as there are rewards`,
    );
  }
  for (let step = 0; step < steps - 1; step++) {
    if (!terminations[step] && !truncations[step]) continue;
    throw new RangeError(
      `Cannot ${action} episode ${number}: step ${step} of ${steps} ends it, expected the last one to`,
    );
  }
  return steps;
}

function rowsOf(
  { observations, actions, rewards, terminations, truncations }: Episode,
  {
    observation = "observation",
    action = "action",
    reward = "reward",
    terminated = "terminated",
    truncated = "truncated",
    nextObservation = "nextObservation",
  }: EpisodeFields,
  number: number,
): { [field: string]: FieldValues } {
  const steps = rewards.length;
  const seen = (start: number) =>
    slice(observations, `episode ${number}: 'observations`, {
      rows: steps + 1,
      start,
      end: start + steps,
    });
  const ended = Uint8Array.from(terminations, (flag) => flag ? 1 : 0);
  const cutOff = Uint8Array.from(truncations, (flag) => flag ? 1 : 0);
  if (!ended[steps - 1]) cutOff[steps - 1] = 1;
  const rows: [string | null, FieldValues][] = [
    [observation, seen(0)],
    [action, actions],
    [reward, rewards],
    [terminated, ended],
    [truncated, cutOff],
    [nextObservation, seen(1)],
  ];
  return Object.fromEntries(rows.filter(([name]) => name !== null));
}

/** Takes rows `start` to `end - 1` of nested values that have so many; views of typed arrays. */
function slice(
  values: FieldValues,
  name: string,
  part: { readonly rows: number; readonly start: number; readonly end: number },
): FieldValues {
  if (isNumbers(values)) {
    const size = values.length / part.rows;
    if (Number.isInteger(size)) {
      return sliceNumbers(values, part.start * size, part.end * size);
    }
    throw new RangeError(
      `Cannot load ${name}' of ${values.length} numbers: expected ${part.rows} equal rows`,
    );
  }
  const parts = Object.entries(values).map(([key, value]) =>
    [key, slice(value as FieldValues, `${name}.${key}`, part)] as const
  );
  return Array.isArray(values)
    ? parts.map(([, value]) => value)
    : Object.fromEntries(parts);
}

function isNumbers(values: FieldValues): values is ArrayLike<number> {
  return ArrayBuffer.isView(values) ||
    (Array.isArray(values) && typeof (values[0] ?? 0) === "number");
}
