import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { SeededRandom } from "../random.ts";
import { anySpace } from "../testdata/arbitrary_space.ts";
import {
  allocateBatch,
  cloneBatch,
  copyBatch,
  readRow,
  writeRow,
} from "./batch.ts";
import { sample } from "./values.ts";

Deno.test("rows are read as they were written, and apart", () => {
  fc.assert(fc.property(anySpace, fc.nat(), (space, seed) => {
    const random = new SeededRandom(seed);
    const batch = allocateBatch(space, 3);
    const values = [0, 1, 2].map(() => sample(space, random));
    values.forEach((value, row) => writeRow(space, value, { batch, row }));
    values.forEach((value, row) =>
      assertEquals(readRow(space, { batch, row }), value)
    );
  }));
});

Deno.test("copies hold the same numbers and are others", () => {
  fc.assert(fc.property(anySpace, fc.nat(), (space, seed) => {
    const random = new SeededRandom(seed);
    const batch = allocateBatch(space, 2);
    writeRow(space, sample(space, random), { batch, row: 1 });
    const clone = cloneBatch(batch);
    assertEquals(clone, batch);
    const copy = allocateBatch(space, 2);
    copyBatch(batch, copy);
    assertEquals(copy, batch);
    writeRow(space, sample(space, random), { batch, row: 0 });
    assertEquals(clone, copy);
  }));
});
