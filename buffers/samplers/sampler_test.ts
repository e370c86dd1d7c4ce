import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { testRandom } from "../testdata/random.ts";
import { UniformSampler } from "./sampler.ts";

function drawn(size: number) {
  return { slots: new Int32Array(size), weights: new Float32Array(size) };
}

Deno.test("slots are those that may be drawn, with weights of 1", () => {
  const ranges = fc.record({
    capacity: fc.integer({ min: 1, max: 50 }),
    first: fc.nat(),
    length: fc.nat(),
    size: fc.nat(),
    seed: fc.nat(),
  });
  fc.assert(fc.property(ranges, (it) => {
    const { capacity } = it;
    const first = it.first % capacity, length = 1 + it.length % capacity;
    const size = 1 + it.size % 100;
    const into = drawn(size);
    const rows = { first, length, capacity };
    const random = testRandom(it.seed);
    new UniformSampler().draw(into, { rows, random });
    for (const slot of into.slots) {
      assertEquals((slot - first + capacity) % capacity < length, true);
      assertEquals(slot >= 0 && slot < capacity, true);
    }
    assertEquals(into.weights, new Float32Array(size).fill(1));
  }));
});

Deno.test("nothing can be drawn from no rows", () => {
  const rows = { first: 0, length: 0, capacity: 4 };
  assertThrows(
    () => new UniformSampler().draw(drawn(3), { rows, random: testRandom(0) }),
    RangeError,
    "Cannot sample 3 rows as the buffer holds 0",
  );
});

Deno.test("a sampler has nothing to save", () => {
  const sampler = new UniformSampler();
  sampler.load();
  assertEquals(sampler.save(), {});
});
