import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fixture from "../tests/reference/schedules.json" with { type: "json" };
import { constant, doubleLinearCon, doubleMiddleDrop } from "./baselines.ts";
import { linearDecay } from "./linear_decay.ts";
import { schedule, type ScheduleName, scheduleNames } from "./named.ts";

const { p, values } = fixture.fraction_schedules;
for (const [name, expected] of Object.entries(values)) {
  Deno.test(`schedule ${name} has the original's values, beyond 1 too`, () => {
    const multiplier = name === "linear"
      ? linearDecay(1, 0, 1)
      : schedule(name as ScheduleName);
    assertEquals(p.length, expected.length);
    p.forEach((it, i) =>
      assertAlmostEquals(multiplier(it), expected[i], 1e-12)
    );
  });
}

Deno.test("a drop comes after its limit, not at it", () => {
  assertEquals(doubleMiddleDrop(0.25), 0.75);
  assertEquals(doubleMiddleDrop(0.75), 0.75 * 0.1);
  assertEquals(doubleMiddleDrop(0.7500001), 0.125);
  assertEquals(doubleLinearCon(0.4375), 0.125);
});

Deno.test("no schedule falls below 0 where the last update begins beyond the end", () => {
  assertEquals([0.25, 1, 1.0004, 2].map(schedule("linear")), [0.75, 0, 0, 0]);
  for (const name of scheduleNames) {
    for (const progress of [1, 1.0001, 1.5, 100]) {
      assert(schedule(name)(progress) >= 0, `${name} at ${progress}`);
    }
  }
});

Deno.test("constant stays at 1 anywhere", () => {
  assertEquals([-1, 0, 0.5, 7].map(constant), [1, 1, 1, 1]);
});
