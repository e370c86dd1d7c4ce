import { assertEquals, assertThrows } from "@std/assert";
import {
  allocateGroup,
  checkGroup,
  loadGroup,
  mapGroup,
  writeGroup,
} from "./_storage.ts";

const fields = {
  image: { shape: [2, 1], dtype: "uint8" },
  parts: [{ shape: [], dtype: "int32" }, {
    angle: { shape: [], dtype: "float64" },
  }],
} as const;

Deno.test("storage has the nesting and the kinds of its fields", () => {
  const data = mapGroup(allocateGroup(fields, { rows: 3 }), (it) => it);
  assertEquals(data, {
    image: new Uint8Array(6),
    parts: [new Int32Array(3), { angle: new Float64Array(3) }],
  });
});

Deno.test("a step is written to one row of each environment", () => {
  const group = allocateGroup(fields, { rows: 4 });
  const place = { numEnvs: 2, stride: 2, offset: 1 };
  const values = { image: [1, 2, 3, 4], parts: [[5, 6], { angle: [7, 8] }] };
  writeGroup(group, values, place);
  assertEquals(mapGroup(group, (it) => it), {
    image: Uint8Array.of(0, 0, 1, 2, 0, 0, 3, 4),
    parts: [Int32Array.of(0, 5, 0, 6), { angle: Float64Array.of(0, 7, 0, 8) }],
  });
});

Deno.test("large rows are copied as small ones are", () => {
  const size = 300;
  const source = Float64Array.from({ length: 2 * size }, (_, i) => i % 251);
  const place = { numEnvs: 2, stride: 2, offset: 1 };
  const expected = new Uint8Array(4 * size);
  expected.set(source.subarray(0, size), size);
  expected.set(source.subarray(size), 3 * size);
  for (const x of [source, Uint8Array.from(source), [...source]]) {
    const fields = { x: { shape: [size], dtype: "uint8" } } as const;
    const group = allocateGroup(fields, { rows: 4 });
    writeGroup(group, { x }, place);
    assertEquals(mapGroup(group, (it) => it), { x: expected });
  }
});

Deno.test("an array that comes again is not viewed again", () => {
  const size = 200;
  const fields = { x: { shape: [size], dtype: "float32" } } as const;
  const group = allocateGroup(fields, { rows: 6 });
  const x = new Float32Array(2 * size);
  let views = 0;
  x.subarray = (begin, end) => {
    views++;
    return new Float32Array(x.buffer).subarray(begin, end);
  };
  for (let offset = 0; offset < 3; offset++) {
    x.fill(offset + 1, 0, size).fill(-offset - 1, size);
    writeGroup(group, { x }, { numEnvs: 2, stride: 3, offset });
  }
  assertEquals(views, 2);
  const { x: data } = mapGroup(group, (it) => it) as { x: Float32Array };
  const firsts = [0, 1, 2, 3, 4, 5].map((row) => data[row * size]);
  assertEquals(firsts, [1, 2, 3, -1, -2, -3]);

  // Another array is not taken for the one before.
  const other = new Float32Array(2 * size).fill(9);
  writeGroup(group, { x: other }, { numEnvs: 2, stride: 3, offset: 0 });
  assertEquals([data[0], data[size - 1], data[3 * size]], [9, 9, 9]);
});

Deno.test("all rows are loaded at once", () => {
  const group = allocateGroup(fields, { rows: 1 });
  const values = { image: [1, 2], parts: [[3], { angle: [4] }] };
  loadGroup(group, values);
  assertEquals(mapGroup(group, (it) => it), {
    image: Uint8Array.of(1, 2),
    parts: [Int32Array.of(3), { angle: Float64Array.of(4) }],
  });
});

Deno.test("what is wrong with values is said by path", () => {
  const group = allocateGroup(fields, { rows: 1 });
  const image = [1, 2];
  const check = (values: unknown) => () =>
    checkGroup(group, values as never, { action: "add", rows: 1 });
  check({ image, parts: [[3], { angle: [4] }] })();
  assertThrows(
    check({ image, parts: [[3], { angle: [4, 5] }] }),
    RangeError,
    "Cannot add 2 numbers as 'parts.1.angle': expected 1",
  );
  assertThrows(
    check({ image, parts: [[3], { angel: [4] }] }),
    RangeError,
    "Cannot add unknown field 'parts.1.angel': did you mean 'parts.1.angle'?",
  );
  assertThrows(
    check({ image, parts: [[3], { angle: [4] }, [5]] }),
    RangeError,
    "Cannot add unknown field 'parts.2'",
  );
  assertThrows(
    check({ image, parts: [[3]] }),
    TypeError,
    "Cannot add 'parts.1' from nothing: expected a record",
  );
  assertThrows(
    check({ image, parts: [[3], new Float64Array(1)] }),
    TypeError,
    "Cannot add 'parts.1' from an array of numbers: expected a record",
  );
  assertThrows(
    check({ image, parts: { 0: [3], 1: { angle: [4] } } }),
    TypeError,
    "Cannot add 'parts' from a record: expected a list",
  );
  assertThrows(
    check({ parts: [[3], { angle: [4] }] }),
    TypeError,
    "Cannot add 'image' from nothing: expected 2 numbers",
  );
  assertThrows(
    check({ image: 7, parts: [[3], { angle: [4] }] }),
    TypeError,
    "Cannot add 'image' from 7: expected 2 numbers",
  );
  assertThrows(
    check(null),
    TypeError,
    "Cannot add a record of fields from null: expected a record",
  );
});

Deno.test("fields need known kinds of numbers and real shapes", () => {
  assertThrows(
    () =>
      allocateGroup({ x: { shape: [], dtype: "float" as "float32" } }, {
        rows: 1,
      }),
    TypeError,
    "Cannot store 'x' as 'float': did you mean 'float32'?",
  );
  for (const shape of [[0], [1.5], [-1], [NaN]]) {
    assertThrows(
      () => allocateGroup({ x: { shape, dtype: "float32" } }, { rows: 1 }),
      RangeError,
      `Cannot store 'x' of shape [${shape}]: expected whole numbers above 0`,
    );
  }
});
