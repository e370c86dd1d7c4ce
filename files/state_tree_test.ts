import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import type { StateTree } from "@bellman/types";
import {
  copyArrays,
  isStateRecord,
  isTypedArray,
  joinState,
  type Json,
  restoreArrays,
  splitState,
} from "./state_tree.ts";
import { assertRefused } from "../tests/testdata/refused.ts";

Deno.test("kinds of nodes are told apart", () => {
  for (const node of [null, 1, "a", true, [], new Uint8Array(1), undefined]) {
    assertFalse(isStateRecord(node));
  }
  assert(isStateRecord({}));
  assertFalse(isTypedArray(new Int16Array(1)));
  assertFalse(isTypedArray(new DataView(new ArrayBuffer(1))));
});

Deno.test("arrays in records are copied and restored, too", () => {
  const arrays = { a: Float32Array.of(1), of: { b: Int32Array.of(3) } };
  const state = copyArrays(arrays);
  arrays.of.b.fill(0);
  assertRefused({
    "RangeError: Cannot restore arrays of 1, no numbers: expected 1, 1": () =>
      restoreArrays(arrays, { ...state, of: null }),
  });
  restoreArrays(arrays, state);
  assertEquals(arrays.of.b, Int32Array.of(3));
});

Deno.test("arrays by name are restored all or not at all", () => {
  const arrays = { a: Float32Array.of(1, 2), b: Int32Array.of(3) };
  const state = copyArrays(arrays);
  arrays.a.fill(0);
  for (const b of [new Int32Array(2), null]) {
    assertRefused({
      [
        `RangeError: Cannot restore arrays of 2, ${
          b ? 2 : "no"
        } numbers: expected 2, 1`
      ]: () => restoreArrays(arrays, b ? { ...state, b } : { a: state.a }),
    });
    assertEquals(arrays.a[0], 0);
  }
  restoreArrays(arrays, state);
  assertEquals(copyArrays(arrays), state);
});

/** Splits, writes the JSON as text, reads it, joins. */
function roundTrip(tree: StateTree): StateTree {
  const { json, tensors } = splitState(tree);
  return joinState(JSON.parse(JSON.stringify(json)), tensors);
}

const trees = fc.letrec<{ node: StateTree }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.double(),
    fc.string({ unit: "binary" }),
    fc.float32Array(),
    fc.uint32Array(),
    fc.array(tie("node")),
    fc.dictionary(
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          "data",
          "shape",
          "$array",
          "$record",
          "a/b",
          "toString",
        ),
      ),
      tie("node"),
      { noNullPrototype: true },
    ),
  ) as fc.Arbitrary<StateTree>,
}));

Deno.test("any state comes back as it was", () => {
  fc.assert(fc.property(trees.node, (tree) => {
    assertEquals(roundTrip(tree), tree);
  }));
});

Deno.test("numbers that JSON cannot write come back", () => {
  const numbers = [NaN, Infinity, -Infinity, -0, 5e-324, 0.1, 2 ** 53];
  const back = roundTrip(numbers) as number[];
  numbers.forEach((number, i) =>
    assertEquals(Object.is(back[i], number), true)
  );
});

Deno.test("arrays are named by their path and shaped by the shape beside them", () => {
  const kernel = { data: new Float32Array(6), shape: [2, 3] };
  const { json, tensors } = splitState({
    params: { "pi/kernel": kernel },
    count: new Int32Array(1),
    odd: { data: new Float32Array(6), shape: [4] },
  });
  assertEquals([...tensors.keys()], ["params/pi/kernel", "count", "odd/data"]);
  assertEquals(tensors.get("params/pi/kernel")!.shape, [2, 3]);
  assertEquals(json, {
    params: {
      "pi/kernel": { data: { $array: "params/pi/kernel" }, shape: [2, 3] },
    },
    count: { $array: "count" },
    odd: { data: { $array: "odd/data" }, shape: [4] },
  });
});

Deno.test("paths that join to one name stay apart", () => {
  const tree = {
    "a/b": new Float32Array([1]),
    a: { b: new Float32Array([2]) },
    __metadata__: new Float32Array([3]),
    sha256: new Uint8Array(32),
  };
  assertEquals([...splitState(tree).tensors.keys()], [
    "a/b",
    "a/b#2",
    "__metadata__#2",
    "sha256#2",
  ]);
  assertEquals(roundTrip(tree), tree);
});

Deno.test("what cannot be saved is named", () => {
  assertRefused({
    "TypeError: Cannot save 'a/f' of type function: expected plain values, typed arrays, lists and records":
      () => splitState({ a: { f: (() => 1) as unknown as StateTree } }),
    "TypeError: Cannot save 'a' of type undefined: expected plain values": () =>
      splitState({ a: undefined as unknown as StateTree }),
  });
});

class Counter {
  count = 3;
}

const cases = [
  new Map([[1, 2]]),
  new Set([1]),
  new Date(0),
  new Counter(),
  new Int16Array(2),
  Promise.resolve(1),
];
for (const value of cases) {
  const type = value.constructor.name;
  Deno.test(`a ${type} is no plain data: its content would be lost`, () => {
    assertRefused({
      [`TypeError: Cannot save 'a/0' of type ${type}: expected plain values`]:
        () => splitState({ a: [value as unknown as StateTree] }),
    });
  });
}

for (
  const json of [
    { $array: "missing" },
    { $number: "toString" },
    { $unknown: 1 },
  ] as Json[]
) {
  Deno.test(`a damaged state is a SyntaxError: ${JSON.stringify(json)}`, () => {
    assertRefused({
      "SyntaxError: has no meaning": () => joinState(json, new Map()),
    });
  });
}
