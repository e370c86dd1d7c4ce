import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { gridSampler, gridSize, randomSampler } from "./sampler.ts";
import type { Params } from "./record.ts";
import { type Dimension, isInSpace, type Space } from "./space.ts";

const dimension: fc.Arbitrary<Dimension> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("float" as const, "int" as const),
    low: fc.integer({ min: 1, max: 100 }),
    length: fc.integer({ min: 1, max: 1000 }),
    log: fc.boolean(),
  }).map(({ length, ...it }) => ({ ...it, high: it.low + length })),
  fc.record({
    kind: fc.constantFrom("float" as const, "int" as const),
    low: fc.integer({ min: -100, max: 100 }),
    step: fc.integer({ min: 1, max: 10 }),
    count: fc.integer({ min: 1, max: 10 }),
  }).map(({ count, ...it }) => ({
    ...it,
    high: it.low + it.step * count,
    log: false,
  })),
  fc.uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
    minLength: 2,
    maxLength: 5,
  }).map((choices) => ({ kind: "choice" as const, choices })),
);
const space: fc.Arbitrary<Space> = fc.dictionary(
  fc.constantFrom("a", "b", "c"),
  dimension,
  { minKeys: 1 },
);

Deno.test("random trials lie in the space, and depend on seed and number alone", () => {
  fc.assert(fc.property(space, fc.nat(), (space, seed) => {
    const [one, other] = [0, 0].map(() => randomSampler(space, seed));
    for (const trial of [1, 7, 3]) {
      const params = one.ask(trial, []) as Record<string, unknown>;
      assert(isInSpace(params, space), JSON.stringify(params));
      assertEquals(other.ask(trial, []), params);
    }
  }));
});

Deno.test("random trials reach all whole numbers of a range, on a log scale too", () => {
  for (const log of [false, true]) {
    const sampler = randomSampler(
      { n: { kind: "int", low: 1, high: 4, log } },
      0,
    );
    const drawn = Array.from({ length: 200 }, (_, i) => sampler.ask(i, []));
    const values = drawn.map((it) => (it as { n: number }).n);
    assertEquals([...new Set(values)].sort(), [1, 2, 3, 4]);
  }
});

Deno.test("a grid has each combination once", () => {
  const space: Space = {
    a: { kind: "choice", choices: ["x", [1, 2], null] },
    b: { kind: "int", low: 2, high: 8, step: 3, log: false },
  };
  assertEquals(gridSize(space), 9);
  const sampler = gridSampler(space, 3);
  const all = Array.from(
    { length: 9 },
    (_, i) => JSON.stringify(sampler.ask(i + 1, [])),
  );
  assertEquals(new Set(all).size, 9);
  assertEquals(sampler.ask(10, []), undefined);
});

Deno.test("ranges with steps end where they say", () => {
  for (const high of [0.3, 0.35, 0.7, 1.1]) {
    const rate = { kind: "float", low: 0, high, log: false } as const;
    const space: Space = { rate: { ...rate, step: 0.05 } };
    const sampler = gridSampler(space, 0), random = randomSampler(space, 0);
    const size = gridSize(space);
    assertEquals(size, Math.round(high / 0.05) + 1);
    const values = Array.from({ length: size }, (_, i) => {
      assert(isInSpace(random.ask(i, []) as Params, space));
      return (sampler.ask(i + 1, []) as { rate: number }).rate;
    });
    assertEquals(Math.max(...values), high);
  }
});

Deno.test("ranges without steps have no grid", () => {
  assertEquals(
    gridSize({ a: { kind: "float", low: 0, high: 1, log: false } }),
    Infinity,
  );
});
