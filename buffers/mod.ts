/**
 * Preallocated buffers for recorded steps, without any dependency on tensors or
 * environments.
 *
 * A {@linkcode RolloutBuffer} records a fixed number of steps and is read whole;
 * a {@linkcode ReplayBuffer} keeps the last ones and draws batches by chance.
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
  Field,
  FieldArray,
  FieldData,
  FieldDtype,
  FieldValues,
} from "./field.ts";
export type { RandomIntegers } from "./random_integers.ts";
export { RolloutBuffer } from "./rollout_buffer.ts";
export type {
  RolloutBufferOptions,
  RolloutBufferState,
} from "./rollout_buffer_options.ts";
export { decodeFrameStacks, type FrameStacksOptions } from "./frame_stacks.ts";
export {
  PrioritizedReplayBuffer,
  type PrioritizedReplayBufferOptions,
} from "./prioritized_replay_buffer.ts";
export type {
  PrioritizationOptions,
  PrioritySampler,
} from "./priority_sampler.ts";
export {
  ProportionalSampler,
  type ProportionalSamplerOptions,
} from "./proportional_sampler.ts";
export { RankBasedSampler } from "./rank_based_sampler.ts";
export { SequenceReplayBuffer } from "./sequence_replay_buffer.ts";
export type {
  SequenceBatch,
  SequenceReplayBufferOptions,
  SequenceReplayBufferState,
} from "./sequence_replay_buffer_options.ts";
export { SumTree } from "./sum_tree.ts";
export type { Accumulator } from "./accumulator.ts";
export type { Batch } from "./batch.ts";
export { MemoryStorage, type MemoryStorageOptions } from "./memory_storage.ts";
export { NStepAccumulator } from "./n_step_accumulator.ts";
export type { NStepAccumulatorOptions } from "./n_step_accumulator_options.ts";
export { ReplayBuffer } from "./replay_buffer.ts";
export type { EpisodeOptions, NStepOptions } from "./episode_options.ts";
export type { ReplayBufferOptions } from "./replay_buffer_options.ts";
export type {
  ReplayBufferState,
  ReplayRingState,
} from "./replay_buffer_state.ts";
export type {
  DrawContext,
  Drawn,
  Random,
  RingRange,
  RowRange,
  Sampler,
  SamplerState,
} from "./sampler.ts";
export type { SharedReplay } from "./shared_replay.ts";
export type { Column, ColumnSpec, Storage } from "./storage.ts";
export {
  UniformSampler,
  type UniformSamplerOptions,
} from "./uniform_sampler.ts";
export {
  loadBuffer,
  type SavableBuffer,
  saveBuffer,
  type SaveBufferOptions,
} from "./buffer_file.ts";
export type { PlainState, StateArray } from "./plain_state.ts";
export { readState, type ReadStateOptions } from "./read_state.ts";
export { writeState } from "./write_state.ts";
export { decodeNpy, encodeNpy } from "./npy.ts";
export type { NpyArray, NpyData, NpyDtype } from "./npy_array.ts";
export {
  loadNpz,
  readNpz,
  type ReadNpzOptions,
  saveNpz,
  writeNpz,
  type WriteNpzOptions,
} from "./npz.ts";
export { FileStorage, type FileStorageOptions } from "./file_storage.ts";
export type { Episode } from "./episode.ts";
export {
  type DataSetArray,
  episodesFromArrays,
} from "./episodes_from_arrays.ts";
export {
  type EpisodeBuffer,
  type EpisodeFields,
  loadEpisodes,
  type LoadEpisodesOptions,
} from "./load_episodes.ts";
export { type Hdf5Group, minariEpisodes } from "./minari_episodes.ts";
export {
  exportRows,
  type ExportRowsOptions,
  importRows,
  type RowSource,
  type RowTarget,
} from "./row_arrays.ts";
export { Hindsight } from "./hindsight.ts";
export type {
  GoalFunction,
  HindsightOptions,
  HindsightStrategy,
} from "./hindsight_options.ts";
