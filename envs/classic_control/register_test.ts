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
  const cases = [
    () => make("CartPole-v1", options),
    () => makeVec("CartPole-v1", { ...options, numEnvs: 2 }),
  ];
  for (const attempt of cases) {
    assertThrows(
      attempt,
      TypeError,
      "option 'gravity' of CartPole-v1: it has none",
    );
  }
});

Deno.test("A cart pole without velocities is a cart pole, seen in part", () => {
  const id = "PositionOnlyCartPole-v1";
  assertEquals(envSpec(id), { id, maxEpisodeSteps: 500, rewardThreshold: 475 });
  const part = make(id), whole = make("CartPole-v1");
  const parts = makeVec(id, { numEnvs: 2 });
  const wholes = makeVec("CartPole-v1", { numEnvs: 2 });
  const first = whole.reset({ seed: 3 }) as Float32Array;
  assertEquals(part.reset({ seed: 3 }), Float32Array.of(first[0], first[2]));
  wholes.reset({ seed: 3 });
  parts.reset({ seed: 3 });
  for (let i = 0; i < 60; i++) {
    const [seen, all] = [parts, wholes].map((env) =>
      env.step(Int32Array.of(i % 2, 1))
    );
    const of = all.observations as Float32Array;
    assertEquals(
      seen.observations,
      Float32Array.of(of[0], of[2], of[4], of[6]),
    );
    assertEquals(seen.terminated, all.terminated);
    assertEquals(seen.episodes, all.episodes);
  }
});
