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
        invertEvery: fc.integer({ min: 1, max: 9 }),
        untilInverse: fc.constantFrom("cold" as const, "wait" as const),
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
    const first = coldCounting === "original" ? 6 : 9;
    for (const untilInverse of ["cold", "wait"] as const) {
      const all = Array.from(
        { length: 20 },
        (_, i) => kfacSchedule(i, { ...options, untilInverse }),
      );
      assertEquals(all.findIndex((it) => it.covariance), cold);
      assertEquals(all.findIndex((it) => it.inverse), first);
      assertEquals(
        all.findIndex((it) => !it.cold),
        untilInverse === "wait" ? cold : first + 1,
      );
    }
  }
});
