import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { unitsOf } from "../copy.ts";
import { ARRAYS, type FieldDtype } from "../fields.ts";
import { copyRows } from "./rows.ts";

const cases = fc.record({
  dtype: fc.constantFrom<FieldDtype>("uint8", "int32", "float32", "float64"),
  size: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(63, 64, 200)),
  rows: fc.array(fc.integer({ min: -2, max: 9 }), { maxLength: 12 }),
});

Deno.test("rows are copied bit by bit, and negative ones left out", () => {
  fc.assert(fc.property(cases, ({ dtype, size, rows }) => {
    const width = size * ARRAYS[dtype].BYTES_PER_ELEMENT;
    // Every pattern of bits comes, also those of numbers that are none.
    const bytes = Uint8Array.from({ length: 10 * width }, (_, i) => i * i * 7);
    const target = new Uint8Array(rows.length * width).fill(9);
    const wanted = target.slice();
    rows.forEach((row, i) => {
      if (row < 0) return;
      wanted.set(bytes.subarray(row * width, (row + 1) * width), i * width);
    });
    const unitsFrom = (it: Uint8Array<ArrayBuffer>) =>
      unitsOf(new ARRAYS[dtype](it.buffer));
    const units = dtype === "uint8" ? width : width / 4;
    copyRows(unitsFrom(bytes), unitsFrom(target), Int32Array.from(rows), units);
    assertEquals(target, wanted);
  }));
});
