import { assertEquals } from "@std/assert";
import { isLikelyTypo, nearest } from "./hints.ts";

Deno.test("the nearest name ignores case", () => {
  assertEquals(
    nearest("cartpole-v1", ["CartPole-v1", "Chain-v0"]),
    "CartPole-v1",
  );
});

Deno.test("a likely typo is near, anything else is not", () => {
  assertEquals(isLikelyTypo("trian", "train"), true);
  assertEquals(isLikelyTypo("bananas", "train"), false);
});
