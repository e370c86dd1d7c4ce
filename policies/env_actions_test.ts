import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { envActions } from "./env_actions.ts";
import type { BoxSpace } from "@bellman/types";

const box: BoxSpace = {
  type: "box",
  shape: [2],
  low: [-1, 0],
  high: [1, 10],
  dtype: "float64",
};

Deno.test("each number of a box action has its own bounds", () => {
  assertEquals(envActions(box)([5, -5, 0.5, 7]), Float64Array.of(1, 0, 0.5, 7));
});

Deno.test("squashed actions are stretched to the bounds and never beyond", () => {
  const toEnv = envActions(box, { squashed: true });
  assertEquals(
    toEnv([-1, -1, 1, 1, 0, 0]),
    Float64Array.of(-1, 0, 1, 10, 0, 5),
  );
  fc.assert(fc.property(fc.float({ min: -1, max: 1, noNaN: true }), (x) => {
    const [first, second] = toEnv([x, x]);
    assert(first >= -1 && first <= 1 && second >= 0 && second <= 10);
  }));
});

Deno.test("whole numbers are rounded", () => {
  const whole: BoxSpace = { ...box, dtype: "int32" };
  assertEquals(envActions(whole)([0.6, 2.4]), Int32Array.of(1, 2));
});

Deno.test("discrete actions are as they are sampled", () => {
  const toEnv = envActions({ type: "discrete", n: 3, start: -1 });
  assertEquals(toEnv([-1, 0, 1]), Int32Array.of(-1, 0, 1));
  assertEquals(
    envActions({ type: "multiBinary", shape: [2] } as never)([1, 0]),
    Uint8Array.of(1, 0),
  );
});
