import { assertEquals } from "@std/assert";
import { ARRAYS, collect, makeSchema, nest } from "./fields.ts";
import { assertRefused } from "../tests/testdata/refused.ts";

const fields = {
  image: { shape: [2, 1], dtype: "uint8" },
  parts: [{ shape: [], dtype: "int32" }, {
    angle: { shape: [], dtype: "float64" },
  }],
} as const;

Deno.test("leaves have paths, and what is made of them their nesting", () => {
  const schema = makeSchema(fields);
  assertEquals(
    schema.leaves.map(({ name, path, size }) => [name, path, size]),
    [
      ["image", ["image"], 2],
      ["parts.0", ["parts", "0"], 1],
      ["parts.1.angle", ["parts", "1", "angle"], 1],
    ],
  );
  const data = nest(schema, ({ dtype, size }) => new ARRAYS[dtype](3 * size));
  assertEquals(data, {
    image: new Uint8Array(6),
    parts: [new Int32Array(3), { angle: new Float64Array(3) }],
  });
});

Deno.test("arrays of values are collected in the order of leaves", () => {
  const { root } = makeSchema(fields);
  const values = { parts: [[5, 6], { angle: [7, 8] }], image: [1, 2, 3, 4] };
  const into: ArrayLike<number>[] = [];
  collect(root, values, { action: "add", rows: 2 }, into);
  assertEquals(into, [[1, 2, 3, 4], [5, 6], [7, 8]]);
});

Deno.test("what is wrong with values is said by path", () => {
  const { root } = makeSchema(fields);
  const image = [1, 2];
  const check = (values: unknown) => () =>
    collect(root, values as never, { action: "add", rows: 1 }, []);
  check({ image, parts: [[3], { angle: [4] }] })();
  assertRefused({
    "RangeError: Cannot add 2 numbers as 'parts.1.angle': expected 1": check({
      image,
      parts: [[3], { angle: [4, 5] }],
    }),
    "RangeError: Cannot add unknown field 'parts.1.angel': did you mean 'parts.1.angle'?":
      check({ image, parts: [[3], { angel: [4] }] }),
    "RangeError: Cannot add unknown field 'parts.2'": check({
      image,
      parts: [[3], { angle: [4] }, [5]],
    }),
    "TypeError: Cannot add 'parts.1' from nothing: expected a record": check({
      image,
      parts: [[3]],
    }),
    "TypeError: Cannot add 'parts.1' from an array of numbers: expected a record":
      check({ image, parts: [[3], new Float64Array(1)] }),
    "TypeError: Cannot add 'parts' from a record: expected a list": check({
      image,
      parts: { 0: [3], 1: { angle: [4] } },
    }),
    "TypeError: Cannot add 'image' from nothing: expected 2 numbers": check({
      parts: [[3], { angle: [4] }],
    }),
    "TypeError: Cannot add 'image' from 7: expected 2 numbers": check({
      image: 7,
      parts: [[3], { angle: [4] }],
    }),
    "TypeError: Cannot add a record of fields from null: expected a record":
      check(null),
  });
});

Deno.test("arrays may have more rows only where that is said", () => {
  const { root } = makeSchema({ x: { shape: [2], dtype: "int32" } });
  const into: ArrayLike<number>[] = [];
  const check = { action: "add", rows: 2, atLeast: true };
  collect(root, { x: [1, 2, 3, 4, 5] }, check, into);
  assertEquals(into, [[1, 2, 3, 4, 5]]);
  assertRefused({
    "RangeError: Cannot add 3 numbers as 'x': expected at least 4": () =>
      collect(root, { x: [1, 2, 3] }, check, into),
  });
});

Deno.test("fields need known kinds of numbers and real shapes", () => {
  assertRefused({
    "TypeError: Cannot store 'x' as 'float': did you mean 'float32'?": () =>
      makeSchema({ x: { shape: [], dtype: "float" as "float32" } }),
  });
  for (const shape of [[0], [1.5], [-1], [NaN], [-2, -3]]) {
    assertRefused({
      [`RangeError: Cannot store 'x' of shape [${shape}]: expected whole numbers above 0`]:
        () => makeSchema({ x: { shape, dtype: "float32" } }),
    });
  }
  assertRefused({
    "TypeError: Cannot make a buffer without a field: expected one or more":
      () => makeSchema({ x: {} }),
  });
  const x = { shape: [], dtype: "float32" } as const;
  assertRefused({
    "RangeError: Cannot store two fields as 'a.b': expected another name for one":
      () => makeSchema({ "a.b": x, a: { b: x } }),
  });
});
