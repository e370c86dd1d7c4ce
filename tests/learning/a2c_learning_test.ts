import { A2C, type A2CConfig } from "@bellman/a2c";
import { paramsFromArrays, selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { evaluate, train } from "@bellman/training";
import { assert, assertAlmostEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  assertIdentity,
  CUES,
  CUT_CHAIN,
  ENDING_CHAIN,
  endingValue,
  evaluated,
  GAMMA,
  IDENTITIES,
  type IdentityKind,
  learnOn,
  type ToyTask,
  ToyVecEnv,
} from "./toy_vec_env.ts";

const NUM_ENVS = 8;

/** Trains on a task and gives back the agent and what it earned at the end. */
async function learn(
  task: ToyTask,
  { updates, config }: { updates: number; config: Partial<A2CConfig> },
): Promise<{ agent: A2C; env: ToyVecEnv }> {
  await selectBackend("wasm");
  const env = new ToyVecEnv(task, NUM_ENVS);
  const agent = new A2C(env, {
    seed: 5,
    config: {
      numSteps: 5,
      gaeLambda: 1,
      normalizeAdvantage: false,
      learningRateSchedule: "constant",
      optimizer: "adam",
      valueNetwork: "shared",
      ...config,
    },
  });
  return { agent: await learnOn(agent, env, updates), env };
}

for (const [name, task] of Object.entries(IDENTITIES)) {
  Deno.test(`a2c learns to say what it sees, ${name} actions`, async () => {
    const learned = await learn(task, {
      updates: name === "box" ? 600 : 300,
      config: { gamma: 0, learningRate: 0.01, hiddenSizes: [32] },
    });
    assertIdentity(name as IdentityKind, learned);
  });
}

Deno.test("a2c finds the best arm of a bandit", async () => {
  const pays = [0.1, 0.3, 0.9, 0.2];
  const learned = await learn({
    observationSpace: { type: "discrete", n: 1 },
    actionSpace: { type: "discrete", n: 4 },
    length: 1,
    ends: "terminated",
    observation: () => 0,
    reward: (_, action) => pays[action[0]],
  }, { updates: 300, config: { learningRate: 0.01, hiddenSizes: [8] } });
  const reward = evaluated(learned);
  assertAlmostEquals(reward, 0.9, 1e-6);
});

/** Values that the agent gives to observations 0 to n - 1. */
function values(agent: A2C, n: number): Float32Array {
  return tf.tidy(() => {
    const seen = Int32Array.from({ length: n }, (_, i) => i);
    const encoded = agent.model.observationTensor(seen, n);
    return agent.model.apply(paramsFromArrays(agent.params), encoded).value
      .dataSync().slice();
  }) as unknown as Float32Array;
}

const TABLE: Partial<A2CConfig> = {
  gamma: GAMMA,
  learningRate: 0.02,
  hiddenSizes: [],
  valueCoefficient: 1,
  maxGradNorm: null,
};

Deno.test("a chain cut by a time limit is worth 1 / (1 - gamma)", async () => {
  const { agent } = await learn(CUT_CHAIN, { updates: 1200, config: TABLE });
  assertAlmostEquals(values(agent, 1)[0], 1 / (1 - GAMMA), 0.05);
  agent.close();
});

Deno.test("a chain that ends is worth the rewards that are left", async () => {
  const { agent } = await learn(ENDING_CHAIN, { updates: 1200, config: TABLE });
  const found = values(agent, ENDING_CHAIN.length);
  for (let time = 0; time < ENDING_CHAIN.length; time++) {
    assertAlmostEquals(found[time], endingValue(time), 0.1);
  }
  agent.close();
});

Deno.test("with the original's bootstrap a time limit counts as an end", async () => {
  const { agent } = await learn({ ...CUT_CHAIN, length: 1 }, {
    updates: 600,
    config: { ...TABLE, bootstrapTruncated: false },
  });
  assertAlmostEquals(values(agent, 1)[0], 1, 0.05);
  agent.close();
});

for (const network of ["lstm", "lnlstm"] as const) {
  Deno.test(`a2c with ${network} remembers what it saw two steps ago`, async () => {
    const learned = await learn(CUES, {
      updates: 300,
      config: { network, lstmSize: 8, learningRate: 0.02, numSteps: 6 },
    });
    // One step in three pays, and 16 steps hold five of those.
    assertAlmostEquals(evaluated(learned), 5 / 16, 1e-6);
  });
}

Deno.test("a2c learns to balance a pole for a while", async () => {
  await selectBackend("wasm");
  const env = makeVec("CartPole-v1", { numEnvs: 8 });
  const agent = new A2C(env, {
    seed: 1,
    totalTimesteps: 80_000,
    config: {
      numSteps: 8,
      gamma: 0.98,
      gaeLambda: 0.95,
      normalizeAdvantage: true,
      objective: "separate",
      optimizer: "rmsprop_tf1",
      learningRate: 0.003,
      valueLearningRate: 0.006,
      valueNetwork: "separate",
    },
  });
  await train(agent, env, { totalTimesteps: 80_000, seed: 1 });
  const actor = agent.policy({ deterministic: true });
  const { meanReturn } = await evaluate(actor, env, { episodes: 16, seed: 2 });
  agent.close();
  assert(meanReturn > 150, `mean return ${meanReturn}`);
});
