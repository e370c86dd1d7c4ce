/**
 * Conversion between recorded data and buffers: episodes of offline data sets as rows
 * of a buffer, and rows of a buffer as plain arrays.
 *
 * @example
 * ```ts
 * import { ReplayBuffer } from "@bellman/buffers";
 * import { exportRows } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const fields = { x: { shape: [2], dtype: "float32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 4, fields });
 * buffer.addBatch({ x: [1, 2, 3, 4] }, 2);
 * const { x } = exportRows(buffer);
 * assertEquals(x, { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] });
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
export * from "./rows.ts";
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
export type {
  ArrayField,
  Field,
  FieldArray,
  FieldData,
  FieldDtype,
  FieldValues,
} from "../fields.ts";
