import type { StateTree } from "@bellman/types";
import type {
  DataOf,
  FieldArray,
  FieldData,
  Fields,
  FieldValues,
  ValuesOf,
} from "../fields.ts";
import type { Sampler } from "../samplers/sampler.ts";
import type { Storage } from "../storage/storage.ts";

/** Names of values, and the field that each is a value of. */
export type Names = Readonly<Record<string, string>>;

/**
 * Options of a {@linkcode ReplayBuffer}.
 *
 * @typeParam F Fields of a row.
 * @typeParam N Names of values after a step, and their fields.
 */
export interface ReplayBufferOptions<
  F extends Fields = Fields,
  N extends Names = Names,
> {
  /** Rows that fit in; a multiple of `numEnvs` where they are steps of episodes. */
  readonly capacity: number;
  /** Fields of a row, by name. */
  readonly fields: F;
  /**
   * Streams that are added side by side: environments, sensors.
   *
   * @default 1
   */
  readonly numEnvs?: number;
  /** Order of rows that are steps of episodes; without it rows are independent. */
  readonly episodes?: EpisodeOptions<N>;
  /**
   * Chooser of the rows that are drawn.
   *
   * @default new UniformSampler()
   */
  readonly sampler?: Sampler;
  /**
   * Place of the rows. Flags and rewards that are looked along stay in memory
   * in any case.
   *
   * @default new MemoryStorage()
   */
  readonly storage?: Storage;
}

/**
 * Order of rows that are the steps of episodes.
 *
 * @typeParam N Names of values after a step, and their fields.
 */
export interface EpisodeOptions<N extends Names = Names> {
  /**
   * Field that is above 0 where a step ended its episode for good; a single
   * uint8 for each row.
   *
   * @default "terminated"
   */
  readonly terminated?: string;
  /**
   * Field that is above 0 where an episode was cut off after a step; a single
   * uint8 for each row.
   *
   * @default "truncated"
   */
  readonly truncated?: string;
  /**
   * Names of values after a step, and the field that holds them before it. They
   * are added and drawn like fields, but stored once: the value after a step is
   * the one before the environment's next step. Only where an episode ended, and
   * for the latest step, they are stored in addition to the rows.
   *
   * @default {}
   */
  readonly next?: N;
  /**
   * Array fields that are drawn as stacks, by path, with the frames of a stack.
   * A row holds one frame; drawn are the last frames of the episode up to it,
   * along the last axis, oldest first: `[h, w, c]` becomes `[h, w, frames * c]`.
   * Next values are stacked likewise.
   *
   * @default {}
   */
  readonly stack?: Readonly<Record<string, number>>;
  /** Returns of several steps; without it rows are single steps. */
  readonly nStep?: NStepOptions;
}

/** Returns of several steps, computed when rows are drawn. */
export interface NStepOptions {
  /** Most steps that a return covers; fewer at the end of an episode. */
  readonly steps: number;
  /** Discount of each step, from 0 to 1. */
  readonly gamma: number;
  /**
   * Field whose discounted sum is drawn: a single number for each row.
   *
   * @default "reward"
   */
  readonly reward?: string;
  /**
   * Name that `gamma^k` is drawn under, where `k` is the number of steps summed:
   * the weight of the next observation's value.
   *
   * @default "discount"
   */
  readonly discount?: string;
  /**
   * Names of values at the later steps of a return, all but its first, and the
   * field that holds them: drawn `[row, steps - 1, ...shape]`. Where a return
   * is shorter, its last step's values stand for those that are missing.
   *
   * @default {}
   */
  readonly between?: Readonly<Record<string, string>>;
  /**
   * Name that the discounts of those steps are drawn under, with `between`:
   * `gamma^i` of step `i`, and 0 past the end of a return.
   *
   * @default "betweenDiscount"
   */
  readonly betweenDiscount?: string;
}

/**
 * Rows that were drawn, one after the other in the array of each field:
 * `[row, ...shape]`. The arrays belong to the caller, who may draw into them
 * again.
 *
 * @typeParam F Fields of a row.
 * @typeParam N Names of values after a step, and their fields.
 */
export type Batch<F extends Fields = Fields, N extends Names = Names> =
  & {
    /** Place of each row in the buffer. */
    readonly slots: Int32Array;
    /** Importance weights; all 1 where each row was as likely. */
    readonly weights: Float32Array;
  }
  & (string extends keyof F ? { readonly [field: string]: FieldData }
    :
      & { readonly [K in keyof F]: DataOf<F[K]> }
      & {
        readonly [K in keyof N as string extends K ? never : K]: N[K] extends
          keyof F ? DataOf<F[N[K]]>
          : FieldData;
      }
      & {
        /** Discounts of the values after returns of several steps. */
        readonly discount?: FieldArray;
        /** Discounts of values between them. */
        readonly betweenDiscount?: FieldArray;
      });

/**
 * Numbers of a step of all streams, or of several rows: those of each field, and the
 * values after it.
 *
 * @typeParam F Fields of a row.
 * @typeParam N Names of values after a step, and their fields.
 */
export type Rows<F extends Fields = Fields, N extends Names = Names> =
  string extends keyof F ? { readonly [field: string]: FieldValues }
    :
      & { readonly [K in keyof F]: ValuesOf<F[K]> }
      & {
        readonly [K in keyof N as string extends K ? never : K]: N[K] extends
          keyof F ? ValuesOf<F[N[K]]> : FieldValues;
      };

/**
 * State that a {@linkcode ReplayBuffer} saves: plain data, of rows that it holds
 * only.
 */
export type ReplayBufferState = ReplayRows & {
  /** Rows that fit in. */
  capacity: number;
  /** Streams side by side. */
  numEnvs: number;
  /** State of the sampler. */
  sampler: StateTree;
  /** Place of the rows that a storage keeps itself, if it does. */
  storage?: StateTree;
};

/** Rows in a {@linkcode ReplayBufferState}. */
export type ReplayRows = {
  /** Steps that were ever added. */
  total: number;
  /** The rows, in the order of slots. */
  fields: { [name: string]: FieldData };
  /** True next values that no row holds, if the buffer has any. */
  finals: {
    /** Slots whose step ended an episode. */
    slots: Int32Array;
    /** Values after each of them. */
    ended: { [name: string]: FieldData };
    /** Values after the latest step of each environment. */
    newest: { [name: string]: FieldData };
  } | null;
};
