/**
 * Preallocated rollout and replay buffers, without tensors or environments.
 *
 * A {@linkcode RolloutBuffer} records a fixed number of steps and is read as a whole; a
 * {@linkcode ReplayBuffer} keeps the latest transitions and samples batches.
 * `@bellman/buffers/storage` stores rows larger than memory,
 * `@bellman/buffers/datasets` reads offline data sets.
 *
 * @example
 * ```ts
 * import { ReplayBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new ReplayBuffer({
 *   capacity: 100,
 *   fields: { reward: { shape: [], dtype: "float32" } },
 * });
 * for (const reward of [1, 2, 3]) buffer.add({ reward: Float32Array.of(reward) });
 * assertEquals(buffer.length, 3);
 * ```
 *
 * @module
 */
export type {
  ArrayField,
  DataOf,
  Field,
  FieldArray,
  FieldData,
  FieldDtype,
  Fields,
  FieldValues,
  ValuesOf,
} from "./fields.ts";
export {
  RolloutBuffer,
  type RolloutBufferOptions,
  type RolloutBufferState,
  shuffle,
} from "./rollout_buffer.ts";
export * from "./replay/options.ts";
export { ReplayBuffer } from "./replay/replay_buffer.ts";
export * from "./replay/prioritized_replay_buffer.ts";
export * from "./replay/hindsight.ts";
export * from "./samplers/sampler.ts";
export type {
  PrioritizationOptions,
  PrioritySampler,
} from "./samplers/priority_sampler.ts";
export * from "./samplers/proportional_sampler.ts";
export { RankBasedSampler } from "./samplers/rank_based_sampler.ts";
export { SumTree } from "./samplers/sum_tree.ts";
export * from "./sequences/sequence_replay_buffer.ts";
export {
  decodeFrameStacks,
  type FrameStacksOptions,
} from "./sequences/frame_stacks.ts";
export * from "./storage/storage.ts";
export * from "./buffer_file.ts";
