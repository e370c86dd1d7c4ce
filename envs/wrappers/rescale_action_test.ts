import { assertEquals, assertThrows } from "@std/assert";
import { make } from "../mod.ts";
import { ClipAction } from "./clip_action.ts";
import { RescaleAction } from "./rescale_action.ts";

function reward(
  action: number,
  scaled?: { low?: number; high?: number },
): number {
  const inner = make("Pendulum-v1");
  const env = scaled === undefined ? inner : new RescaleAction(inner, scaled);
  env.reset({ seed: 0 });
  return env.step(Float32Array.of(action)).reward;
}

Deno.test("the range is stretched to the bounds", () => {
  assertEquals(reward(1, {}), reward(2));
  assertEquals(reward(-0.5, {}), reward(-1));
  assertEquals(reward(0, { low: 0, high: 10 }), reward(-2));
  assertEquals(reward(7.5, { low: 0, high: 10 }), reward(1));
});

Deno.test("a range upside down and unbounded actions are refused", () => {
  assertThrows(() => reward(0, { low: 1 }), RangeError, "from 1 to 1");
  assertThrows(
    () => new RescaleAction(new ClipAction(make("Pendulum-v1"))),
    RangeError,
    "whose element 0 lies from -Infinity to Infinity",
  );
});
