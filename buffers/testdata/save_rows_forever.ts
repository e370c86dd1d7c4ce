/**
 * Overwrites all rows of a file again and again until it is killed: those of one
 * save have one number, and of the next one more. The state of the last save is
 * in a file next to it.
 */
import { loadStateSync, saveStateSync } from "@bellman/files";
import { FileStorage } from "../storage/file_storage.ts";
import type { StateTree } from "@bellman/types";

const ROWS = 3000;
const [path] = Deno.args;
const storage = FileStorage.open(path, { cacheBytes: 1 << 16 });
const column = storage.allocate(
  { name: "x", dtype: "float64", size: 10 },
  ROWS,
);
let round = 0;
try {
  const { state } = loadStateSync(`${path}.state`);
  const saved = state as { round: number; rows: StateTree };
  round = saved.round;
  storage.check(saved.rows);
  storage.load(saved.rows);
} catch (error) {
  if ((error as { code?: string }).code !== "ENOENT") throw error;
}
for (;;) {
  round++;
  const step = new Float64Array(10 * 100).fill(round);
  for (let row = 0; row < ROWS; row += 100) column.write(row, step);
  saveStateSync({ round, rows: storage.save() }, `${path}.state`);
}
