import { refuseUnknown } from "@bellman/files/options";
import type { PrioritySampler } from "../samplers/priority_sampler.ts";
import {
  ProportionalSampler,
  type ProportionalSamplerOptions,
} from "../samplers/proportional_sampler.ts";
import { RankBasedSampler } from "../samplers/rank_based_sampler.ts";
import type { Random } from "../samplers/sampler.ts";
import type { Fields } from "../fields.ts";
import type { Batch, EpisodeOptions, ReplayBufferOptions } from "./options.ts";
import { ReplayBuffer } from "./replay_buffer.ts";

/**
 * Options of a {@linkcode PrioritizedReplayBuffer}.
 *
 * @typeParam F Fields of a row.
 * @typeParam E Order of rows as steps of episodes.
 */
export interface PrioritizedReplayBufferOptions<
  F extends Fields = Fields,
  E extends EpisodeOptions = EpisodeOptions,
> extends
  Omit<ReplayBufferOptions<F, E>, "sampler">,
  ProportionalSamplerOptions {
  /**
   * Sampling probability from the priority, or from its rank.
   *
   * @default "proportional"
   */
  readonly kind?: "proportional" | "rank";
}

const OPTIONS: readonly (keyof PrioritizedReplayBufferOptions)[] = [
  ...["capacity", "fields", "numEnvs", "episodes", "storage"] as const,
  ...["kind", "alpha", "beta", "excludeLast", "weightsOver"] as const,
];

/**
 * {@linkcode ReplayBuffer} with prioritized sampling and importance weights. New rows
 * get the largest existing priority, or 1.
 *
 * Source: Schaul et al., "Prioritized Experience Replay", 2016.
 *
 * @example
 * ```ts
 * import { PrioritizedReplayBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new PrioritizedReplayBuffer({
 *   capacity: 4,
 *   fields: { x: { shape: [], dtype: "float32" } },
 *   alpha: 1,
 * });
 * buffer.addBatch({ x: [10, 20] }, 2);
 * buffer.updatePriorities([0, 1], [1, 3]);
 *
 * const random = { integer: () => 0, uniform: () => 0.5 };
 * const batch = buffer.sample(random, { size: 4, beta: 1 });
 * assertEquals(batch.x, Float32Array.of(10, 20, 20, 20));
 * assertEquals(batch.weights, Float32Array.of(1, 1 / 3, 1 / 3, 1 / 3));
 * buffer.updatePriorities(batch.slots, [0.5, 2, 2, 2]);
 * ```
 *
 * @typeParam F Fields of a row.
 * @typeParam E Order of rows as steps of episodes.
 */
export class PrioritizedReplayBuffer<
  const F extends Fields = Fields,
  const E extends EpisodeOptions = EpisodeOptions,
> extends ReplayBuffer<F, E> {
  readonly #sampler: PrioritySampler;
  readonly #beta: number;

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes, fields, storage and sampling.
   * @throws {RangeError} If a size, a shape, a name or an exponent does not fit.
   * @throws {TypeError} If a dtype is unknown or options exclude each other.
   */
  constructor(options: PrioritizedReplayBufferOptions<F, E>) {
    refuseUnknown(options, OPTIONS, "a prioritized replay buffer");
    const { kind, alpha, beta, excludeLast, weightsOver, ...rows } = options;
    const chosen = { kind, alpha, beta, excludeLast, weightsOver };
    const sampler = makeSampler(chosen);
    super({ ...rows, sampler });
    this.#sampler = sampler;
    this.#beta = sampler.beta;
  }

  /**
   * Samples rows by priority.
   *
   * @param random Random stream; the same stream gives the same rows.
   * @param options Batch to reuse, or the size of a new one, and beta for its weights
   * if it is not the buffer's.
   * @returns The batch.
   * @throws {RangeError} If there are no rows, or `beta` is below 0.
   * @throws {TypeError} If the batch is not as {@link batch} makes them.
   */
  override sample(
    random: Random,
    options: ({ readonly size: number } | { readonly into: Batch<F, E> }) & {
      readonly beta?: number;
    },
  ): Batch<F, E> {
    this.#sampler.beta = options.beta ?? this.#beta;
    return super.sample(random, options);
  }

  /**
   * Updates priorities, such as absolute TD errors plus a small number. Empty slots are
   * ignored and, if `slots` is the array of a sampled batch itself, those whose rows
   * were replaced since then.
   *
   * @param slots Slots; for duplicates the last priority counts.
   * @param priorities A number above 0 for each.
   * @throws {RangeError} If the lengths differ, there is no such slot, or a
   * priority is not finite and above 0; nothing is changed then.
   */
  updatePriorities(
    slots: ArrayLike<number>,
    priorities: ArrayLike<number>,
  ): void {
    this.#sampler.updatePriorities(slots, priorities);
  }
}

function makeSampler(
  { kind = "proportional", ...options }: Pick<
    PrioritizedReplayBufferOptions,
    "kind" | keyof ProportionalSamplerOptions
  >,
): PrioritySampler {
  if (kind === "proportional") return new ProportionalSampler(options);
  if (kind !== "rank") {
    throw new TypeError(
      `Cannot prioritize by '${kind}': expected 'proportional' or 'rank'`,
    );
  }
  const { excludeLast, weightsOver, ...exponents } = options;
  for (const [name, value] of Object.entries({ excludeLast, weightsOver })) {
    if (!value) continue;
    throw new TypeError(
      `Cannot apply '${name}' to ranks: expected the kind 'proportional'`,
    );
  }
  return new RankBasedSampler(exponents);
}
