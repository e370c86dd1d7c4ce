import { selectBackend } from "@bellman/compute";
import type { Statistics } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import { MadeUpEnv, spacesOf } from "../agent/testdata/made_up_env.ts";
import { defaultSacV1Config, type SacV1Config } from "./config.ts";
import { SACv1, sacV1, type SacV1Options } from "./sac_v1.ts";

await selectBackend("cpu");

const BOX = spacesOf("box");

/** Plays the first steps, and gives back the statistics of the updates. */
function play(
  config: Partial<SacV1Config>,
  options: SacV1Options = {},
): Statistics[] {
  const small = {
    hiddenSizes: [8],
    batchSize: 8,
    bufferSize: 60,
    learningStarts: 8,
  };
  const agent = new SACv1(BOX, {
    seed: 3,
    engine: "eager",
    ...options,
    config: { ...small, ...config },
  });
  const { updates } = new MadeUpEnv(BOX).play(agent, 8);
  agent.close();
  return updates;
}

Deno.test("rewards are scaled by a number or by a function of the iteration", () => {
  const asked: number[] = [];
  const byFunction = play({}, {
    rewardScale: (iteration) => {
      asked.push(iteration);
      return 3;
    },
  });
  assertEquals([...new Set(asked)], [0, 1, 2, 3, 4]);
  assertEquals(byFunction, play({ rewardScale: 3 }));
  assertThrows(() => play({}, { rewardScale: () => NaN }), RangeError, "NaN");
});

Deno.test("settings that do nothing are named", () => {
  const idleOf = (config: Partial<SacV1Config>) =>
    sacV1.meta.unusedSettings!({ ...defaultSacV1Config, ...config }, {});
  const idle = idleOf({});
  for (const key of ["components", "haarnojaMixtureGradient"]) {
    assertEquals(idle[key], "it is for policy: mixture");
  }
  assertEquals(idle.nStepEntropy, "nSteps is 1");
  assertEquals(idle.repeatExponent, "initialExploration repeats no action");
  const used = idleOf({
    policy: "mixture",
    nSteps: 3,
    replay: "rank",
    initialExploration: "repeated",
  });
  assertEquals(Object.keys(used), ["lstmSize"]);
});

Deno.test("what is no object is refused as options", () => {
  for (const options of [null, 3, []] as never[]) {
    assertThrows(
      () => new SACv1(BOX, options),
      TypeError,
      "as the options of an agent: expected an object",
    );
  }
});
