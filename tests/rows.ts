/** Replay buffers in files of runs, as their checkpoints describe them. */
import type { ColumnSpec, FileStorageState } from "@bellman/buffers/storage";
import { CheckpointStore } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { crc32 } from "node:zlib";

type Parts = { [key: string]: StateTree };

/** Where a file of rows has its first block. */
const DATA_START = 4096;

const WIDTHS: Readonly<Record<string, number>> = { uint8: 1, float64: 8 };

/** Rows that a checkpoint names. */
export interface SavedRows extends FileStorageState {
  /** Bytes of a block. */
  readonly blockBytes: number;
}

/**
 * Reads where a checkpoint has its rows.
 *
 * @param dir Folder of the run.
 * @param which A step, or the best one.
 * @returns Nothing where the replay buffer is in memory, or there is none.
 */
export function savedRows(
  dir: string,
  which: number | "best",
): SavedRows | undefined {
  const { state } = new CheckpointStore(`${dir}/checkpoints`).load(which);
  const { experience } = (state as Parts).algorithm as Parts;
  const rows = ((experience as Parts).replay as Parts | null)?.storage as
    | FileStorageState
    | undefined;
  if (rows === undefined) return undefined;
  const columns = JSON.parse(rows.columns) as ColumnSpec[];
  const widths = columns.map(({ dtype }) => WIDTHS[dtype] ?? 4);
  const bytes = columns.reduce((sum, { size }, i) => sum + size * widths[i], 0);
  const widest = Math.max(...widths);
  const rowBytes = Math.ceil(bytes / widest) * widest;
  return { ...rows, blockBytes: rows.blockRows * rowBytes };
}

/** Returns the byte that a block begins with. */
export function blockStart({ blockBytes }: SavedRows, place: number): number {
  return DATA_START + place * blockBytes;
}

/** True where a file has all rows that a checkpoint names, as they were. */
export function hasRows(file: Uint8Array, rows: SavedRows): boolean {
  return rows.places.every((place, i) => {
    if (place < 0) return true;
    const start = blockStart(rows, place);
    const block = new Uint8Array(rows.blockBytes);
    block.set(file.subarray(start, start + rows.blockBytes));
    return (crc32(block) | 0) === rows.checksums[i];
  });
}
