import type { BoxArray, Space } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertFalse,
} from "@std/assert";
import fc from "fast-check";
import { SeededRandom } from "../random.ts";
import { anySpace } from "../testdata/arbitrary_space.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  tuple,
} from "./constructors.ts";
import { contains, describeSpace, sample, spacesEqual } from "./values.ts";

Deno.test("each space is told in words", () => {
  const goal = discrete(3, { start: 1 });
  assertEquals(
    [
      goal,
      box({ low: -1, high: [1, 2] }),
      multiDiscrete([2, 3]),
      multiBinary(4),
      dict({ goal, home: goal }),
      tuple([goal]),
    ].map(describeSpace),
    [
      "a whole number from 1 to 3",
      "float32 numbers of shape [2] from -1 to [1,2]",
      "2 whole numbers below [2,3]",
      "4 bits",
      "a record of goal, home",
      "a list of 1 values",
    ],
  );
});

const pair = box({ low: -1, high: 1, shape: [2] });
const nested = dict({ goal: discrete(3), places: tuple([pair, discrete(2)]) });

const MEMBERS: [Space, unknown][] = [
  [discrete(3), 2],
  [discrete(3, { start: -1 }), -1],
  [pair, Float32Array.of(-1, 1)],
  [box({ shape: [1] }), Float32Array.of(Infinity)],
  [multiDiscrete([2, 3]), Int32Array.of(1, 2)],
  [multiBinary(2), Uint8Array.of(0, 1)],
  [nested, { goal: 0, places: [Float32Array.of(0, 0), 1] }],
];

const STRANGERS: [Space, unknown][] = [
  [discrete(3), 3],
  [discrete(3), -1],
  [discrete(3), 0.5],
  [discrete(3), NaN],
  [discrete(3), "1"],
  [discrete(3, { start: -1 }), 2],
  [pair, Float32Array.of(0, 1.5)],
  [pair, Float32Array.of(0, NaN)],
  [pair, Float32Array.of(0)],
  [pair, Float64Array.of(0, 0)],
  [pair, [0, 0]],
  [pair, null],
  [multiDiscrete([2, 3]), Int32Array.of(2, 0)],
  [multiDiscrete([2, 3]), Int32Array.of(0, -1)],
  [multiBinary(2), Uint8Array.of(0, 2)],
  [nested, { goal: 0 }],
  [nested, { goal: 0, places: [Float32Array.of(0, 0), 1], more: 1 }],
  [nested, { goal: 3, places: [Float32Array.of(0, 0), 1] }],
  [nested, null],
];

for (const [space, value] of MEMBERS) {
  Deno.test(`a member of ${space.type}: ${JSON.stringify(value)}`, () => {
    assert(contains(space, value));
  });
}

for (const [space, value] of STRANGERS) {
  Deno.test(`no member of ${space.type}: ${JSON.stringify(value)}`, () => {
    assertFalse(contains(space, value));
  });
}

Deno.test("a bound that float32 has not is its nearest number, and inside", () => {
  for (const bound of [0.1, 0.7, -0.1, -0.7]) {
    const space = box({ low: bound, high: bound, shape: [1] });
    assert(contains(space, Float32Array.of(bound)));
    assertFalse(contains(space, Float32Array.of(bound + 1e-6)));
    assertFalse(contains(space, Float32Array.of(bound - 1e-6)));
  }
});

Deno.test("a sample of any space lies in it", () => {
  fc.assert(fc.property(anySpace, fc.nat(), (space, seed) => {
    const random = new SeededRandom(seed);
    for (let i = 0; i < 5; i++) {
      const value = sample(space, random);
      assert(contains(space, value), JSON.stringify({ space, value }));
    }
  }));
});

Deno.test("the same seed samples the same values", () => {
  fc.assert(fc.property(anySpace, fc.nat(), (space, seed) => {
    const draw = () => sample(space, new SeededRandom(seed));
    assertEquals(draw(), draw());
  }));
});

Deno.test("discrete values are equally likely, boxes flat", () => {
  const random = new SeededRandom(1);
  const counts = [0, 0, 0];
  let sum = 0;
  for (let i = 0; i < 30_000; i++) {
    counts[sample(discrete(3), random) as number]++;
    sum +=
      (sample(box({ low: 2, high: 4, shape: [1] }), random) as BoxArray)[0];
  }
  for (const count of counts) assertAlmostEquals(count, 10_000, 400);
  assertAlmostEquals(sum / 30_000, 3, 0.02);
});

Deno.test("whole numbers of a box reach both bounds", () => {
  const space = box({ low: 0, high: 2, shape: [1], dtype: "uint8" });
  const random = new SeededRandom(0);
  const seen = new Set<number>();
  for (let i = 0; i < 200; i++) {
    seen.add((sample(space, random) as BoxArray)[0]);
  }
  assertEquals([...seen].sort(), [0, 1, 2]);
});

Deno.test("samples at the very bounds lie in the space", () => {
  const ends = [-3.3, -0.7, -0.1, 0, 0.1, 0.7, 3.3];
  for (const uniform of [0, 0.5, 1 - 2 ** -53]) {
    const random = {
      uniform: () => uniform,
      normal: () => 0,
      integer: () => 0,
    };
    for (const low of ends) {
      for (const high of ends.filter((it) => it >= low)) {
        for (const range of [{ low, high }, { low }, { high }]) {
          const space = box({ ...range, shape: [1] });
          const value = sample(space, random);
          assert(contains(space, value), `${low} to ${high}: ${value}`);
        }
      }
    }
  }
});

Deno.test("a space equals its copy", () => {
  fc.assert(fc.property(anySpace, (space) => {
    assert(spacesEqual(space, structuredClone(space)));
  }));
});

Deno.test("equality is symmetric", () => {
  fc.assert(fc.property(anySpace, anySpace, (a, b) => {
    assertEquals(spacesEqual(a, b), spacesEqual(b, a));
  }));
});

const DIFFERENT: [string, Space, Space][] = [
  ["kind", discrete(2), multiBinary(2)],
  ["count", discrete(2), discrete(3)],
  ["start", discrete(2), discrete(2, { start: 1 })],
  ["bits", multiBinary(2), multiBinary(3)],
  ["counts", multiDiscrete([2, 3]), multiDiscrete([2, 4])],
  ["shape", box({ shape: [2, 1] }), box({ shape: [1, 2] })],
  ["type", box({ shape: [1] }), box({ shape: [1], dtype: "float64" })],
  ["lower bound", box({ low: [0, 0] }), box({ low: [0, -1] })],
  ["upper bound", box({ high: [0, 0] }), box({ high: [0, 1] })],
  ["name", dict({ a: discrete(2) }), dict({ b: discrete(2) })],
  ["inherited name", dict({ toString: discrete(2) }), dict({})],
  ["part", dict({ a: discrete(2) }), dict({ a: discrete(3) })],
  ["length", tuple([discrete(2)]), tuple([discrete(2), discrete(2)])],
];

for (const [what, a, b] of DIFFERENT) {
  Deno.test(`spaces of another ${what} differ`, () => {
    assertEquals([spacesEqual(a, b), spacesEqual(b, a)], [false, false]);
  });
}

Deno.test("one bound equals a list of it, names stand in any order", () => {
  assert(spacesEqual(box({ low: [1, 1] }), box({ low: 1, shape: [2] })));
  const a = { type: "dict", spaces: { x: discrete(1), y: discrete(2) } };
  const b = { type: "dict", spaces: { y: discrete(2), x: discrete(1) } };
  assert(spacesEqual(a as Space, b as Space));
});
