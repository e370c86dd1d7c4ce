import { assert, assertEquals, assertThrows } from "@std/assert";
import { make } from "@bellman/envs";
import type { BoxArray } from "@bellman/types";
import { resolveConfig } from "../settings/resolve.ts";
import type { Entry } from "../settings/settings.ts";
import { makeEnvironments } from "./environments.ts";

function environmentsFor(algorithm: string, entries: Entry[]) {
  const hosting = { imports: [], onNotice: () => {} };
  return makeEnvironments(resolveConfig(algorithm, { entries }), hosting);
}

const environments = (...entries: Entry[]) => environmentsFor("a2c", entries);

Deno.test("the training environment is what the configuration says", async () => {
  const { training } = await environments(
    ["env", "Pendulum-v1"],
    ["numEnvs", 3],
    ["frameStack", 2],
  );
  assertEquals(training.numEnvs, 3);
  assertEquals(training.observationSpace.type, "box");
  assertEquals((training.reset({ seed: 0 }) as BoxArray).length, 3 * 6);
});

Deno.test("evaluation is scaled by the training's statistics and leaves them", async () => {
  const { training, evaluation } = await environments(
    ["env", "CartPole-v1"],
    ["normalizeObservation", true],
  );
  training.reset({ seed: 0 });
  const actions = new Int32Array(training.numEnvs);
  for (let i = 0; i < 50; i++) training.step(actions);
  const before = JSON.stringify(training.save());
  const judged = evaluation(2);
  const scaled = judged.reset({ seed: 5 }) as BoxArray;
  const raw = (await environments(["normalizeObservation", false])).evaluation(
    2,
  )
    .reset({ seed: 5 }) as BoxArray;
  assert(scaled.some((it, i) => it !== raw[i]));
  judged.step(new Int32Array(2));
  assertEquals(JSON.stringify(training.save()), before);
});

Deno.test("observations of a space that is no box are left as they are", async () => {
  for (const algorithm of ["a2c", "acer"]) {
    const { training, normalization } = await environmentsFor(
      algorithm,
      [["env", "Chain-v0"], ["normalizeObservation", true]],
    );
    assertEquals(training.observationSpace.type, "discrete");
    assertEquals(normalization?.observations, undefined);
    assertEquals(training.observationScaling, undefined);
  }
});

Deno.test("rewards of evaluation are the environment's own", async () => {
  const { training, evaluation } = await environments(
    ["env", "Pendulum-v1"],
    ["normalizeReward", true],
    ["clipReward", true],
  );
  training.reset({ seed: 0 });
  const clipped = training.step(new Float32Array(training.numEnvs)).rewards;
  assert(clipped.every((it) => Math.abs(it) <= 10));
  const judged = evaluation(4);
  judged.reset({ seed: 0 });
  const { rewards } = judged.step(new Float32Array(4));
  assert(rewards.some((it) => it < -1.5));
});

Deno.test("an environment of the caller's is wrapped for acting", async () => {
  const { around } = await environments(["env", "CartPole-v1"]);
  const env = around(make("CartPole-v1"));
  env.reset({ seed: 0 });
  let ended = 0;
  for (let i = 0; i < 100; i++) {
    ended += env.step(Int32Array.of(0)).episodes?.length ?? 0;
  }
  assert(ended > 5);
});

Deno.test("an algorithm with a replay buffer gets originals, and scales for them", async () => {
  const { training, evaluation, normalization } = await environmentsFor("sac", [
    ["env", "Pendulum-v1"],
    ["numEnvs", 2],
    ["frameStack", 2],
    ["normalizeObservation", true],
    ["normalizeReward", true],
  ]);
  const { observationSpace } = training;
  assert(observationSpace.type === "box");
  assert((observationSpace.high as number[]).includes(8)); // Speed, unscaled.
  training.reset({ seed: 0 });
  const { rewards } = training.step(new Float32Array(2));
  assert(rewards.some((it) => it < -1));
  assertEquals(evaluation(1).observationSpace, observationSpace);
  assertEquals(training.observationScaling, undefined);
  assertEquals(training.stackedFrames, 2);
  assertEquals(normalization?.observations?.statistics.mean.length, 6);
  assertEquals(normalization?.rewards?.statistics.mean.length, 1);
});

Deno.test("how many frames are shared is no setting, as frameStack tells it", () => {
  assertThrows(
    () => resolveConfig("sac", { entries: [["sharedFrames", 3]] }),
    Error,
    "Unknown key 'sharedFrames'",
  );
});
