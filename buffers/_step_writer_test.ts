import { assertEquals } from "@std/assert";
import { StepWriter } from "./_step_writer.ts";

Deno.test("a step is written to one row of each environment", () => {
  const data = new Uint8Array(8);
  const place = { numEnvs: 2, stride: 2, offset: 1 };
  new StepWriter(data, 2).write([1, 2, 3, 4], place);
  assertEquals(data, Uint8Array.of(0, 0, 1, 2, 0, 0, 3, 4));
});

Deno.test("large rows are copied as small ones are", () => {
  const size = 300;
  const source = Float64Array.from({ length: 2 * size }, (_, i) => i % 251);
  const place = { numEnvs: 2, stride: 2, offset: 1 };
  const expected = new Uint8Array(4 * size);
  expected.set(source.subarray(0, size), size);
  expected.set(source.subarray(size), 3 * size);
  for (const values of [source, Uint8Array.from(source), [...source]]) {
    const data = new Uint8Array(4 * size);
    new StepWriter(data, size).write(values, place);
    assertEquals(data, expected);
  }
});

Deno.test("an array that comes again is not viewed again", () => {
  const size = 200;
  const data = new Float32Array(6 * size);
  const writer = new StepWriter(data, size);
  const values = new Float32Array(2 * size);
  let views = 0;
  values.subarray = (begin, end) => {
    views++;
    return new Float32Array(values.buffer).subarray(begin, end);
  };
  for (let offset = 0; offset < 3; offset++) {
    values.fill(offset + 1, 0, size).fill(-offset - 1, size);
    writer.write(values, { numEnvs: 2, stride: 3, offset });
  }
  assertEquals(views, 2);
  const firsts = [0, 1, 2, 3, 4, 5].map((row) => data[row * size]);
  assertEquals(firsts, [1, 2, 3, -1, -2, -3]);

  // Another array is not taken for the one before.
  const other = new Float32Array(2 * size).fill(9);
  writer.write(other, { numEnvs: 2, stride: 3, offset: 0 });
  assertEquals([data[0], data[size - 1], data[3 * size]], [9, 9, 9]);
});
