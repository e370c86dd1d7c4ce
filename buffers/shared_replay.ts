import type { EpisodeOptions } from "./episode_options.ts";
import type { Field } from "./field.ts";

/**
 * The memory of a {@linkcode ReplayBuffer} that another worker writes to or
 * samples from; to be posted as a message.
 */
export type SharedReplay = {
  /** What the buffer was made for. */
  readonly options: {
    readonly capacity: number;
    readonly fields: Readonly<Record<string, Field>>;
    readonly numEnvs: number;
    readonly episodes?: EpisodeOptions;
    readonly writers: number;
  };
  /** Whose part of the slots is written by who receives it. */
  readonly writer: number;
  /** Rows of each array field. */
  readonly columns: readonly SharedArrayBuffer[];
  /** True next values that no row holds, for each writer. */
  readonly sides: readonly {
    readonly slots: SharedArrayBuffer;
    readonly arrays: readonly SharedArrayBuffer[];
  }[];
  /** How far writers are. */
  readonly control: SharedArrayBuffer;
};
