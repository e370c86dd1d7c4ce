import { assertEquals, assertThrows } from "@std/assert";
import { constant, linear } from "./schedules.ts";
import { clamp, product, scale, sequence } from "./composition.ts";

Deno.test("scale and product multiply", () => {
  const schedule = product(linear, scale(linear, 2), constant);
  assertEquals([0, 0.5, 1].map(schedule), [2, 0.5, 0]);
  assertEquals(product()(0.5), 1);
});

Deno.test("clamp limits multipliers on both sides", () => {
  const schedule = clamp(linear, { minimum: 0.25, maximum: 0.75 });
  assertEquals([-1, 0, 0.5, 1].map(schedule), [0.75, 0.75, 0.5, 0.25]);
  assertEquals([-1, 2].map(clamp((progress) => 1 - progress)), [2, 0]);
});

Deno.test("clamp needs limits in order", () => {
  assertThrows(
    () => clamp(linear, { minimum: 2, maximum: 1 }),
    RangeError,
    "Cannot clamp between 2 and 1",
  );
});

Deno.test("the parts of a sequence see progress of their own", () => {
  const seen: number[] = [];
  const spy = (progress: number) => seen.push(progress);
  const schedule = sequence([
    { until: 0.25, schedule: spy },
    { until: 0.75, schedule: spy },
    { until: 1, schedule: spy },
  ]);
  [-0.25, 0, 0.125, 0.25, 0.5, 0.75, 1, 1.25].forEach(schedule);
  assertEquals(seen, [-1, 0, 0.5, 0, 0.5, 0, 1, 2]);
});

Deno.test("a sequence needs parts whose ends grow", () => {
  assertThrows(() => sequence([]), RangeError, "0 parts");
  assertThrows(
    () =>
      sequence([
        { until: 0.5, schedule: linear },
        { until: 0.5, schedule: linear },
      ]),
    RangeError,
    "Cannot end part 1 of a sequence at 0.5: it starts at 0.5",
  );
});
