import type { Accumulator } from "./accumulator.ts";
import type { EpisodeOptions } from "./episode_options.ts";
import type { Field } from "./field.ts";
import type { Random, Sampler } from "./sampler.ts";
import type { SharedReplay } from "./shared_replay.ts";
import type { Storage } from "./storage.ts";

/** What a {@linkcode ReplayBuffer} is made for. */
export interface ReplayBufferOptions {
  /** Rows that fit in; a multiple of `numEnvs * writers`. */
  readonly capacity: number;
  /** What a row is, by name. */
  readonly fields: Readonly<Record<string, Field>>;
  /**
   * Streams that are added side by side: environments, sensors.
   *
   * @default 1
   */
  readonly numEnvs?: number;
  /** That rows are steps of episodes; without it each row stands for itself. */
  readonly episodes?: EpisodeOptions;
  /**
   * What makes rows of the steps that are added; without it each step is a row
   * for each environment. Its rows stand for themselves: `episodes` goes with
   * steps only.
   */
  readonly accumulator?: Accumulator;
  /**
   * How rows are drawn.
   *
   * @default new UniformSampler()
   */
  readonly sampler?: Sampler;
  /**
   * Where rows are kept. Flags and rewards that are looked along stay in memory
   * in any case.
   *
   * @default new MemoryStorage()
   */
  readonly storage?: Storage;
  /**
   * Rows that there is room for at first; it doubles up to the capacity.
   *
   * @default capacity
   */
  readonly initialCapacity?: number;
  /**
   * Which row goes when a full buffer gets another one: the oldest, or one by
   * chance so that each row ever added is as likely to be held (Vitter 1985,
   * algorithm R), which needs `random` and rows that stand for themselves.
   *
   * @default "oldest"
   */
  readonly eviction?: "oldest" | "reservoir";
  /** Where the randomness of the reservoir comes from. */
  readonly random?: Random;
  /**
   * Whether the rows are in shared memory, so that workers may write them; or
   * the memory of another buffer, as {@linkcode ReplayBuffer.share} gave it.
   *
   * @default false
   */
  readonly shared?: boolean | SharedReplay;
  /**
   * Writers that add steps of `numEnvs` environments each, into equal parts of
   * the capacity; more than one only where memory is shared.
   *
   * @default 1
   */
  readonly writers?: number;
}
