/**
 * The packages declare the interfaces that they consume; this file holds the
 * pairs together. It fails to compile, in `deno task check`, when one drifts,
 * and runs each pair once.
 */
import { assertEquals } from "@std/assert";
import { A2C, type A2CConfig, type A2CSpaces } from "@bellman/a2c";
import { type Params, RandomStream, selectBackend } from "@bellman/compute";
import * as envs from "@bellman/envs";
import * as policies from "@bellman/policies";
import * as training from "@bellman/training";

await selectBackend("cpu");

function cartPole(numEnvs = 2): envs.VecEnv {
  return envs.makeVec("CartPole-v1", { numEnvs });
}

function agent(env: envs.VecEnv): A2C {
  const config: Partial<A2CConfig> = { hiddenSizes: [8] };
  const { observationSpace, actionSpace, numEnvs } = env;
  const spaces: A2CSpaces = { observationSpace, actionSpace, numEnvs };
  return new A2C(spaces, { config, seed: 0, totalTimesteps: 100 });
}

Deno.test("training takes the vector environments of envs", () => {
  const env = cartPole() satisfies training.VecEnvLike;
  env.reset({ seed: 0 });
  const step = env.step(Int32Array.of(0, 1)) satisfies training.VecStepLike;
  assertEquals(step.rewards.length, 2);
});

Deno.test("training takes A2C, and evaluation its actors", () => {
  const env = cartPole();
  const algorithm = agent(env) satisfies training.Algorithm;
  const actor = algorithm.policy({ numEnvs: 2 }) satisfies training.Actor;
  const actions = actor.act(env.reset({ seed: 0 }));
  assertEquals((actions as Int32Array).length, 2);
  algorithm.close();
});

Deno.test("policies take the spaces of envs and the streams of compute", () => {
  const { observationSpace, actionSpace } = cartPole();
  const random = new RandomStream(0) satisfies policies.RandomSource;
  const model = policies.actorCritic({
    observationSpace: observationSpace satisfies policies.SpaceLike,
    actionSpace: actionSpace satisfies policies.SpaceLike,
    network: "mlp",
  });
  const params = model.init(random) satisfies Params;
  assertEquals(Object.keys(params).includes("pi/head/kernel"), true);
});

Deno.test("spaces draw from either stream of random numbers", () => {
  for (
    const random of [
      new envs.SeededRandom(0) satisfies envs.RandomSource,
      new RandomStream(0) satisfies envs.RandomSource,
    ]
  ) {
    const space = envs.discrete(3);
    assertEquals(envs.contains(space, envs.sample(space, random)), true);
  }
});

Deno.test("states of environments and algorithms are state trees", () => {
  const env = cartPole();
  env.reset({ seed: 0 });
  const algorithm = agent(env);
  const tree: training.StateTree = {
    env: env.snapshot() satisfies training.StateTree,
    algorithm: algorithm.save() satisfies training.StateTree,
  };
  const copy = training.copyStateTree(tree) as Record<
    string,
    training.StateTree
  >;
  env.restore(copy.env as envs.Snapshot);
  algorithm.restore(copy.algorithm);
  algorithm.close();
});
