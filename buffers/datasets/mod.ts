/**
 * Recorded episodes: read from Minari's folders, npz and HDF5 files, written as Minari
 * does, and held as rows to learn from.
 *
 * @example
 * ```ts
 * import { Dataset, episodesFromArrays } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const row = (...data: number[]) => ({ data, shape: [data.length] });
 * const episodes = episodesFromArrays({
 *   observations: row(0, 1, 1, 0),
 *   actions: row(1, 0, 0, 1),
 *   rewards: row(0, 1, 0, 3),
 *   terminals: row(0, 1, 0, 1),
 * });
 * const data = new Dataset(episodes, {
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   holdout: 0.5,
 * });
 * assertEquals([data.numEpisodes, data.numSteps, data.bestReturn], [2, 4, 3]);
 * ```
 *
 * @module
 */
export * from "./arrays.ts";
export * from "./dataset.ts";
export {
  type DatasetBatch,
  DatasetRows,
  type SampleOptions,
} from "./dataset_rows.ts";
export { type Hdf5Group, minariEpisodes } from "./minari.ts";
export {
  type MinariData,
  openDataset,
  type OpenDatasetOptions,
  readMinari,
} from "./open_dataset.ts";
export * from "./write_minari.ts";
export type { Spaces } from "./spaces.ts";
export type { Episode, RecordedValues } from "@bellman/types";
