import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { studentInterval } from "./mod.ts";

Deno.test("Student's table: 2.2622 for 10 values, 12.706 for two, 1.8331 at 90 %", () => {
  const values = Array.from({ length: 10 }, (_, i) => i);
  const { mean, deviation, interval } = studentInterval(values);
  assertEquals(mean, 4.5);
  assertAlmostEquals(deviation!, Math.sqrt(82.5 / 9));
  const error = deviation! / Math.sqrt(10);
  assertAlmostEquals((interval![1] - 4.5) / error, 2.26216, 1e-4);
  assertAlmostEquals((4.5 - interval![0]) / error, 2.26216, 1e-4);
  const [low, high] = studentInterval(values, { level: 0.9 }).interval!;
  assertAlmostEquals((high - low) / 2 / error, 1.83311, 1e-4);
  assertAlmostEquals(studentInterval([-1, 1]).interval![1], 12.7062, 1e-3);
});

Deno.test("one value has no interval; equal ones one without a width", () => {
  assertEquals(studentInterval([7]), {
    mean: 7,
    deviation: null,
    interval: null,
  });
  assertEquals(studentInterval(Float32Array.of(7, 7)).interval, [7, 7]);
});

Deno.test("no values, and a level that is none: one line", () => {
  assertThrows(() => studentInterval([]), RangeError, "0 runs on 0 tasks");
  assertThrows(() => studentInterval([1, NaN]), RangeError, "of NaN");
  assertThrows(
    () => studentInterval([1, 2], { level: 1 }),
    RangeError,
    "Cannot make intervals of level 1: expected a number between 0 and 1",
  );
});

Deno.test("deviation and interval are those of numpy and of Student's table", () => {
  const { mean, deviation, interval } = studentInterval([
    271.3486091211373,
    256.40399695338425,
    271.8902742332236,
    281.24629061676916,
    262.7260999287603,
  ]);
  assertAlmostEquals(mean, 268.7230541706549, 1e-9);
  // numpy.std(returns, ddof=1)
  assertAlmostEquals(deviation!, 9.50629927613515, 1e-9);
  // t(0.975; 4) = 2.7764451051977987
  assertAlmostEquals(interval![0], 256.91942460332734, 1e-6);
  assertAlmostEquals(interval![1], 280.52668373798247, 1e-6);
});
