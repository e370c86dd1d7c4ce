import { assertEquals } from "@std/assert";
import { defaultSacConfig, type SacConfig } from "./config.ts";
import { settledConfig } from "./settled_config.ts";
import { spacesOf } from "../agent/testdata/made_up_env.ts";

/** A setting of discrete actions, and of box ones. */
function settled<Key extends keyof SacConfig>(
  key: Key,
  config: Partial<SacConfig> = {},
  totalTimesteps = 200_000,
): SacConfig[Key][] {
  return [spacesOf("discrete"), spacesOf("box")].map((spaces) =>
    settledConfig({ ...defaultSacConfig, ...config }, {
      ...spaces,
      totalTimesteps,
    })[key]
  );
}

Deno.test("random actions are repeated by the kind of actions, or as told", () => {
  const key = "initialExploration";
  assertEquals(settled(key), ["repeated", "uniform"]);
  assertEquals(settled(key, { [key]: "policy" }), ["policy", "policy"]);
});

Deno.test("learning starts by the kind of actions, the run and the buffer, or as told", () => {
  const key = "learningStarts";
  assertEquals(settled(key), [5000, 100]);
  assertEquals(settled(key, {}, 2002), [500, 100]);
  assertEquals(settled(key, {}, 1), [1, 100]);
  assertEquals(settled(key, { bufferSize: 400 }), [400, 100]);
  assertEquals(settled(key, { learningStarts: 7 }), [7, 7]);
});
