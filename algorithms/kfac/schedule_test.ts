import { selectBackend } from "@bellman/compute";
import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { kfacSchedule, scheduleFlags } from "./schedule.ts";

await selectBackend("cpu");

Deno.test("tensors are scheduled as numbers are", () => {
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.record({
        covUpdateEvery: fc.integer({ min: 1, max: 4 }),
        coldUpdates: fc.nat(9),
        coldCounting: fc.constantFrom(
          "documented" as const,
          "original" as const,
        ),
      }),
      (update, options) => {
        tf.tidy(() => {
          const { cold, covariance } = kfacSchedule(update, options);
          const flags = scheduleFlags(tf.scalar(update), options);
          assertEquals(flags.cold.arraySync(), Number(cold));
          assertEquals(flags.covariance.arraySync(), Number(covariance));
        });
      },
    ),
    { seed: 1, numRuns: 200 },
  );
});

Deno.test("cold updates, half as many by the original's counting, come before inversions", () => {
  for (
    const [coldCounting, cold] of [["documented", 5], ["original", 3]] as const
  ) {
    const options = { coldUpdates: 5, invertEvery: 4, coldCounting };
    const all = Array.from({ length: 20 }, (_, i) => kfacSchedule(i, options));
    assertEquals(all.filter((it) => it.cold).length, cold);
    assertEquals(
      all.findIndex((it) => it.inverse),
      coldCounting === "original" ? 6 : 9,
    );
    assertEquals(all.filter((it) => it.cold && it.inverse), []);
  }
});
