import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { chiSquaredDeviation } from "../testdata/chi_squared.ts";
import { testRandom } from "../testdata/random.ts";
import { UniformSampler } from "./sampler.ts";

function drawn(size: number) {
  return { slots: new Int32Array(size), weights: new Float32Array(size) };
}

Deno.test("every order of every choice is drawn as often without replacement", () => {
  const sampler = new UniformSampler({ replacement: false });
  const random = testRandom(1);
  const into = drawn(3);
  const counts = new Map<string, number>();
  const rows = { first: 3, length: 4, capacity: 5 };
  for (let i = 0; i < 12_000; i++) {
    sampler.draw(into, { rows, random });
    const key = into.slots.join();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  assertEquals(counts.size, 4 * 3 * 2);
  assertEquals(counts.has("3,4,1"), true);
  const shares = Array(24).fill(1 / 24);
  const deviation = chiSquaredDeviation([...counts.values()], shares);
  assertEquals(Math.abs(deviation) < 4, true, `${deviation}`);
});

Deno.test("slots are those that may be drawn, with weights of 1", () => {
  const ranges = fc.record({
    capacity: fc.integer({ min: 1, max: 50 }),
    first: fc.nat(),
    length: fc.nat(),
    size: fc.nat(),
    seed: fc.nat(),
    replacement: fc.boolean(),
  });
  fc.assert(fc.property(ranges, (it) => {
    const { capacity, replacement } = it;
    const first = it.first % capacity, length = 1 + it.length % capacity;
    const size = 1 + it.size % (replacement ? 100 : length);
    const into = drawn(size);
    const rows = { first, length, capacity };
    const random = testRandom(it.seed);
    new UniformSampler({ replacement }).draw(into, { rows, random });
    for (const slot of into.slots) {
      assertEquals((slot - first + capacity) % capacity < length, true);
      assertEquals(slot >= 0 && slot < capacity, true);
    }
    if (!replacement) assertEquals(new Set(into.slots).size, size);
    assertEquals(into.weights, new Float32Array(size).fill(1));
  }));
});

Deno.test("more rows than there are cannot be drawn", () => {
  const context = {
    rows: { first: 0, length: 2, capacity: 4 },
    random: testRandom(0),
  };
  assertThrows(
    () => new UniformSampler({ replacement: false }).draw(drawn(3), context),
    RangeError,
    "Cannot sample 3 rows as the buffer holds 2",
  );
  const empty = { ...context, rows: { ...context.rows, length: 0 } };
  assertThrows(
    () => new UniformSampler().draw(drawn(3), empty),
    RangeError,
    "Cannot sample 3 rows as the buffer holds 0",
  );
});

Deno.test("a sampler has nothing to save", () => {
  const sampler = new UniformSampler();
  sampler.load();
  assertEquals(sampler.save(), {});
});
