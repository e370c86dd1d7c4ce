import { assertEquals, assertThrows } from "@std/assert";
import { make } from "../mod.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import { ClipAction } from "./clip_action.ts";

Deno.test("actions beyond the bounds are as those on them", () => {
  const step = (action: number, wrapped: boolean) => {
    const env = wrapped
      ? new ClipAction(make("Pendulum-v1"))
      : make("Pendulum-v1");
    env.reset({ seed: 0 });
    return env.step(Float32Array.of(action));
  };
  assertEquals(step(50, true), step(2, false));
  assertEquals(step(-50, true), step(-2, false));
  assertEquals(step(0.5, true), step(0.5, false));
});

Deno.test("its actions have no bounds", () => {
  const { actionSpace } = new ClipAction(make("Pendulum-v1"));
  assertEquals(actionSpace.type === "box" && actionSpace.high, Infinity);
});

Deno.test("other actions than boxes are refused", () => {
  assertThrows(
    () => new ClipAction(new ChainEnv()),
    TypeError,
    "Cannot clip actions of a discrete space: expected a box",
  );
});
