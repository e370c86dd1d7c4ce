import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { constant, linear } from "./baselines.ts";
import { scale } from "./composition.ts";
import { warmup } from "./warmup.ts";

Deno.test("warmup rises to the schedule's first value", () => {
  const schedule = warmup(scale(constant, 8), { fraction: 0.5, start: 4 });
  assertEquals([0, 0.25, 0.5, 1].map(schedule), [4, 6, 8, 8]);
});

Deno.test("warmup leaves the schedule the rest of the whole", () => {
  const schedule = warmup(linear);
  assertEquals([schedule(0), schedule(0.05), schedule(1)], [0, 1, 0]);
  assertAlmostEquals(schedule(0.025), 0.5);
  assertAlmostEquals(schedule(0.05 + 0.95 / 4), 0.75);
});

Deno.test("warmup needs a fraction between 0 and 1", () => {
  for (const fraction of [0, 1, NaN]) {
    assertThrows(
      () => warmup(linear, { fraction }),
      RangeError,
      `Cannot warm up for a fraction of ${fraction}: expected one between 0 and 1`,
    );
  }
});
