import { assert, assertEquals, assertThrows } from "@std/assert";
import { envSpec, make, makeVec } from "../registry/registry.ts";
import { DynamicsVecEnv } from "./dynamics.ts";
import "./register.ts";

Deno.test("Limits and thresholds are Gymnasium's", () => {
  const known = [
    ["CartPole-v0", 200, 195],
    ["CartPole-v1", 500, 475],
    ["MountainCar-v0", 200, -110],
    ["MountainCarContinuous-v0", 999, 90],
    ["Acrobot-v1", 500, -100],
    ["Pendulum-v1", 200, undefined],
  ] as const;
  for (const [id, maxEpisodeSteps, rewardThreshold] of known) {
    const spec = { id, maxEpisodeSteps, rewardThreshold };
    assertEquals(envSpec(id), spec);
    const many = makeVec(id, { numEnvs: 2, recordEpisodes: false });
    assert(many instanceof DynamicsVecEnv);
    assertEquals(many.maxEpisodeSteps, maxEpisodeSteps);
    assertEquals(many.spec?.maxEpisodeSteps, maxEpisodeSteps);
    assertEquals(many.spec?.rewardThreshold, rewardThreshold);
  }
});

Deno.test("Without a limit a batch is not truncated", () => {
  const options = { numEnvs: 1, maxEpisodeSteps: Infinity };
  const env = makeVec("Pendulum-v1", { ...options, recordEpisodes: false });
  env.reset({ seed: 0 });
  for (let i = 0; i < 300; i++) {
    assertEquals(env.step(Float32Array.of(0)).truncated[0], 0);
  }
});

Deno.test("Options that there are not are refused", () => {
  const options = { kwargs: { gravity: 1 } };
  for (
    const attempt of [
      () => make("CartPole-v1", options),
      () => makeVec("CartPole-v1", { ...options, numEnvs: 2 }),
    ]
  ) assertThrows(attempt, TypeError, "with 'gravity': it has no options");
});
