import type { StateTree } from "@bellman/types";
import type {
  DataOf,
  FieldData,
  Fields,
  FieldValues,
  ValuesOf,
} from "../fields.ts";
import type { Sampler } from "../samplers/sampler.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * Options of a {@linkcode ReplayBuffer}.
 *
 * @typeParam F Fields of a row.
 * @typeParam E Order of rows as steps of episodes.
 */
export interface ReplayBufferOptions<
  F extends Fields = Fields,
  E extends EpisodeOptions = EpisodeOptions,
> {
  /** Capacity in rows; a multiple of `numEnvs` if rows are steps of episodes. */
  readonly capacity: number;
  /** Fields of a row, by name. */
  readonly fields: F;
  /**
   * Number of parallel streams: environments, sensors.
   *
   * @default 1
   */
  readonly numEnvs?: number;
  /** Order of rows as steps of episodes; without it rows are independent. */
  readonly episodes?: E;
  /**
   * Sampler of the rows of a batch.
   *
   * @default new UniformSampler()
   */
  readonly sampler?: Sampler;
  /**
   * Storage of the rows. Flags and rewards that are needed along episodes are always in
   * memory.
   *
   * @default new MemoryStorage()
   */
  readonly storage?: Storage;
}

/** Order of rows as steps of episodes. */
export interface EpisodeOptions {
  /**
   * Termination flag: field that is above 0 where a step terminated its episode; a
   * single uint8 for each row.
   *
   * @default "terminated"
   */
  readonly terminated?: string;
  /**
   * Truncation flag: field that is above 0 where an episode was truncated after a step;
   * a single uint8 for each row.
   *
   * @default "truncated"
   */
  readonly truncated?: string;
  /**
   * Names of next values, such as next observations, with the field of the value before
   * the step. They are added and sampled like fields, but stored once, as the value
   * before the environment's next step. Only final values of episodes, and those of the
   * latest step, are stored in addition.
   *
   * @default {}
   */
  readonly next?: Readonly<Record<string, string>>;
  /**
   * Frame stacks: paths of array fields, with the number of frames. A row stores one
   * frame; sampled are the last frames of the episode up to it, along the last axis,
   * oldest first: `[h, w, c]` becomes `[h, w, frames * c]`. Next values are stacked
   * likewise.
   *
   * @default {}
   */
  readonly stack?: Readonly<Record<string, number>>;
  /** n-step returns; by default transitions are single steps. */
  readonly nStep?: NStepOptions;
}

/** n-step returns, computed on sampling. */
export interface NStepOptions {
  /** Largest number of steps of a return; episodes may end it earlier. */
  readonly steps: number;
  /** Discount factor, from 0 to 1. */
  readonly gamma: number;
  /**
   * Field of the rewards: a single number for each row.
   *
   * @default "reward"
   */
  readonly reward?: string;
  /**
   * Name of the sampled discounts `gamma^k`, where `k` is the number of summed steps:
   * the weight of the bootstrap value.
   *
   * @default "discount"
   */
  readonly discount?: string;
  /**
   * Names of values at the later steps of a return, with their fields: sampled as
   * `[row, steps - 1, ...shape]`. If a return is shorter, its last step's values are
   * repeated.
   *
   * @default {}
   */
  readonly between?: Readonly<Record<string, string>>;
  /**
   * Name of the sampled discounts of those steps, with `between`: `gamma^i` of step
   * `i`, and 0 past the end of a return.
   *
   * @default "betweenDiscount"
   */
  readonly betweenDiscount?: string;
}

/**
 * Batch of sampled rows: an array for each field, `[row, ...shape]`. The caller owns
 * the arrays and may reuse them.
 *
 * @typeParam F Fields of a row.
 * @typeParam E Order of rows as steps of episodes.
 */
export type Batch<
  F extends Fields = Fields,
  E extends EpisodeOptions = EpisodeOptions,
> =
  & {
    /** Slot of each row in the buffer. */
    readonly slots: Int32Array;
    /** Importance weights; 1 for uniform sampling. */
    readonly weights: Float32Array;
  }
  & (string extends keyof F ? { readonly [field: string]: FieldData }
    :
      & { readonly [K in keyof F]: DataOf<F[K]> }
      & NamedData<F, NonNullable<E["next"]>>
      & (E extends { readonly nStep: infer S extends NStepOptions }
        ? ReturnData<F, S>
        : {
          /** Discounts of the bootstrap values of n-step returns. */
          readonly discount?: Float32Array;
        }));

/**
 * Data of fields by other names.
 *
 * @typeParam F Fields of a row.
 * @typeParam N Names, and their fields.
 */
export type NamedData<F, N> = {
  readonly [K in keyof N as string extends K ? never : K]: N[K] extends keyof F
    ? DataOf<F[N[K]]>
    : FieldData;
};

/**
 * Data of n-step returns: discounts of the bootstrap values, and values between.
 *
 * @typeParam F Fields of a row.
 * @typeParam S Options of the returns.
 */
export type ReturnData<F, S extends NStepOptions> =
  & {
    readonly [
      K in S extends { readonly discount: infer D extends string } ? D
        : "discount"
    ]: Float32Array;
  }
  & (S extends { readonly between: infer N } ?
      & NamedData<F, N>
      & {
        readonly [
          K in S extends { readonly betweenDiscount: infer D extends string }
            ? D
            : "betweenDiscount"
        ]: Float32Array;
      }
    : unknown);

/**
 * Numbers of a step of all streams, or of several rows: those of each field, and next
 * values.
 *
 * @typeParam F Fields of a row.
 * @typeParam E Order of rows as steps of episodes.
 */
export type Rows<
  F extends Fields = Fields,
  E extends EpisodeOptions = EpisodeOptions,
> = string extends keyof F ? { readonly [field: string]: FieldValues }
  :
    & { readonly [K in keyof F]: ValuesOf<F[K]> }
    & {
      readonly [
        K in keyof NonNullable<E["next"]> as string extends K ? never : K
      ]: NonNullable<E["next"]>[K] extends infer N extends keyof F
        ? ValuesOf<F[N]>
        : FieldValues;
    };

/** Saved state of a {@linkcode ReplayBuffer}. */
export type ReplayBufferState = ReplayRows & {
  /** Capacity in rows. */
  capacity: number;
  /** Number of parallel streams. */
  numEnvs: number;
  /** State of the sampler. */
  sampler: StateTree;
  /** Location of rows that a storage keeps itself, if it does. */
  storage?: StateTree;
};

/** Rows in a {@linkcode ReplayBufferState}. */
export type ReplayRows = {
  /** Number of steps ever added. */
  total: number;
  /** Rows, in the order of slots. */
  fields: { [name: string]: FieldData };
  /** Final and latest next values, which no row holds, if the buffer has any. */
  finals: {
    /** Slots whose step ended an episode. */
    slots: Int32Array;
    /** Values after each of them. */
    ended: { [name: string]: FieldData };
    /** Values after the latest step of each environment. */
    newest: { [name: string]: FieldData };
  } | null;
};
