/**
 * Overwrites all rows of a file again and again until it is killed: those of one
 * flush have one number, and of the next one more.
 */
import { FileStorage } from "../storage/file_storage.ts";

const ROWS = 3000;
const storage = await FileStorage.open(Deno.args[0], { blockBytes: 4096 });
const column = storage.allocate(
  { name: "x", dtype: "float64", size: 10 },
  ROWS,
);
let { round } = (storage.state ?? { round: 0 }) as { round: number };
for (;;) {
  round++;
  const step = new Float64Array(10 * 100).fill(round);
  for (let row = 0; row < ROWS; row += 100) column.write(row, step);
  storage.flush({ round });
}
