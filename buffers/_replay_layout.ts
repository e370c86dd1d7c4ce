import { checkCount } from "./_check_count.ts";
import { closest } from "./_closest.ts";
import type { ReplaySchema } from "./_replay_schema.ts";
import type { RingOptions } from "./_ring.ts";
import type { ReplayBufferOptions } from "./replay_buffer_options.ts";
import type { SharedReplay } from "./shared_replay.ts";

/** Where the rows of a replay buffer lie. */
export interface ReplayLayout {
  readonly capacity: number;
  readonly numEnvs: number;
  /** Rows that there is room for at first. */
  readonly initialCapacity: number;
  /** One for each writer. */
  readonly rings: readonly RingOptions[];
  readonly shared: boolean | SharedReplay;
}

/** Throws unless sizes and kinds of storage fit each other. */
export function makeLayout(
  options: ReplayBufferOptions,
  { episodes, sideLeaves, maxFrames }: ReplaySchema,
): ReplayLayout {
  const { capacity, numEnvs = 1, writers = 1, shared = false } = options;
  const { initialCapacity = capacity } = options;
  checkCount("capacity", capacity);
  checkCount("numEnvs", numEnvs);
  checkCount("writers", writers);
  checkCount("initialCapacity", initialCapacity);
  checkKinds(options);
  // Rows that stand for themselves are steps of their own.
  const width = episodes === undefined ? 1 : numEnvs;
  checkMultiple(capacity, width * writers);
  const steps = capacity / (width * writers);
  if (steps < maxFrames) {
    throw new RangeError(
      `Cannot stack ${maxFrames} frames in a buffer of ${steps} steps: expected a capacity of ${
        maxFrames * width * writers
      } or more`,
    );
  }
  const rings = Array.from({ length: writers }, (_, writer): RingOptions => ({
    base: writer * steps * width,
    numEnvs: width,
    steps,
    margin: maxFrames - 1,
    // What comes after a step is then always in a row of its own.
    lag: shared !== false && sideLeaves.length > 0 ? 1 : 0,
  }));
  return {
    capacity,
    numEnvs,
    initialCapacity: Math.min(capacity, initialCapacity),
    rings,
    shared,
  };
}

function checkMultiple(capacity: number, width: number): void {
  if (capacity > 2 ** 31 - 1) {
    throw new RangeError(
      `Cannot make a buffer of ${capacity} rows: expected fewer than 2^31`,
    );
  }
  if (capacity % width === 0) return;
  const wanted = Math.ceil(capacity / width) * width;
  throw new RangeError(
    `Cannot share ${capacity} rows among ${width} environments: expected a multiple such as ${wanted}`,
  );
}

function checkKinds(options: ReplayBufferOptions): void {
  const { eviction = "oldest", random, shared } = options;
  if (eviction !== "oldest" && eviction !== "reservoir") {
    throw new TypeError(
      `Cannot evict rows by '${eviction}': did you mean '${
        closest(eviction, ["oldest", "reservoir"])
      }'?`,
    );
  }
  if (eviction === "reservoir") {
    if (random === undefined) {
      throw new TypeError(
        "Cannot evict rows by 'reservoir' without randomness: expected the option 'random'",
      );
    }
    refuse("evict rows by 'reservoir'", options, ["episodes", "shared"]);
  }
  if (options.accumulator) refuse("accumulate rows", options, ["episodes"]);
  if (shared) refuse("share memory", options, ["initialCapacity", "storage"]);
  if (!shared && (options.writers ?? 1) > 1) {
    throw new TypeError(
      `Cannot have ${options.writers} writers: expected one, or the option 'shared'`,
    );
  }
}

function refuse(
  action: string,
  options: ReplayBufferOptions,
  names: readonly (keyof ReplayBufferOptions)[],
): void {
  for (const name of names) {
    if (!options[name]) continue;
    throw new TypeError(
      `Cannot ${action} with the option '${name}': expected one or the other`,
    );
  }
}
