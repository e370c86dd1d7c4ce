import { ACER, type AcerConfig } from "@bellman/acer";
import { paramsFromArrays, selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { evaluate, train } from "@bellman/training";
import { assert, assertAlmostEquals } from "@std/assert";
import type { QActorCritic } from "@bellman/policies";
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
const SMALL: Partial<AcerConfig> = {
  learningRateSchedule: "constant",
  optimizer: "adam",
  numSteps: 6,
  bufferSize: 600,
  replayStart: 12,
  qNetwork: "shared",
};

/** Trains on a task for so many segments. */
async function learn(
  task: ToyTask,
  { segments, config }: { segments: number; config: Partial<AcerConfig> },
): Promise<{ agent: ACER; env: ToyVecEnv }> {
  await selectBackend("wasm");
  const env = new ToyVecEnv(task, NUM_ENVS);
  const agent = new ACER(env, { seed: 5, config: { ...SMALL, ...config } });
  return { agent: await learnOn(agent, env, segments), env };
}

const SAYS: Record<string, [IdentityKind, number, Partial<AcerConfig>?]> = {
  "discrete actions": ["discrete", 80],
  "segments by priorities, proportional": [
    "discrete",
    80,
    { replay: "proportional" },
  ],
  "segments by priorities, rank": ["discrete", 80, { replay: "rank" }],
  "several discrete actions": ["multiDiscrete", 200],
  "box actions": ["box", 200],
};

for (const [name, [kind, segments, config]] of Object.entries(SAYS)) {
  Deno.test(`acer learns to say what it sees, ${name}`, async () => {
    const learned = await learn(IDENTITIES[kind], {
      segments,
      config: { gamma: 0, learningRate: 0.01, hiddenSizes: [32], ...config },
    });
    assertIdentity(kind, learned);
  });
}

/** Q-values of the only action of observations 0 to n - 1. */
function values(agent: ACER, n: number): Float32Array {
  return tf.tidy(() => {
    const seen = Int32Array.from({ length: n }, (_, i) => i);
    const encoded = agent.model.observationTensor(seen, n);
    return (agent.model as QActorCritic).apply(
      paramsFromArrays(agent.params),
      encoded,
    ).q
      .dataSync().slice();
  }) as unknown as Float32Array;
}

const TABLE: Partial<AcerConfig> = {
  gamma: GAMMA,
  learningRate: 0.02,
  hiddenSizes: [],
  maxGradNorm: null,
};

Deno.test("a chain cut by a time limit is worth 1 / (1 - gamma) to acer", async () => {
  const { agent } = await learn(CUT_CHAIN, { segments: 300, config: TABLE });
  assertAlmostEquals(values(agent, 1)[0], 1 / (1 - GAMMA), 0.05);
  agent.close();
});

Deno.test("a chain that ends is worth to acer the rewards that are left", async () => {
  const { agent } = await learn(ENDING_CHAIN, { segments: 300, config: TABLE });
  const found = values(agent, ENDING_CHAIN.length);
  for (let time = 0; time < ENDING_CHAIN.length; time++) {
    assertAlmostEquals(found[time], endingValue(time), 0.1);
  }
  agent.close();
});

for (const network of ["lstm", "lnlstm"] as const) {
  Deno.test(`acer with ${network} remembers what it saw two steps ago`, async () => {
    const { agent, env } = await learn(CUES, {
      segments: 100,
      config: { network, lstmSize: 8, learningRate: 0.01 },
    });
    const reward = evaluated({ agent, env });
    // One step in three pays, and 16 steps hold five of those.
    assertAlmostEquals(reward, 5 / 16, 1e-6);
  });
}

Deno.test("acer with lstm remembers which box action it is asked for later", async () => {
  const { agent, env } = await learn({
    ...CUES,
    actionSpace: {
      type: "box",
      shape: [1],
      low: -2,
      high: 2,
      dtype: "float32",
    },
    reward: (_, action, { time, row }) =>
      time === 2 ? 1 - Math.abs(action[0] - (row % 2 ? 1 : -1)) : 0,
  }, {
    segments: 250,
    config: { network: "lstm", lstmSize: 8, learningRate: 0.01 },
  });
  const reward = evaluated({ agent, env });
  // One step in three pays at most 1, and nothing in the mean to who forgets.
  assert(reward > 0.75 * 5 / 16, `mean reward ${reward}`);
});

Deno.test("acer learns to balance a pole for a while", async () => {
  await selectBackend("wasm");
  const env = makeVec("CartPole-v1", { numEnvs: 4 });
  const agent = new ACER(env, {
    seed: 1,
    totalTimesteps: 40_000,
    config: {
      learningRate: 0.006,
      entropyCoefficient: 0.03,
      qNetwork: "separate",
      bufferSize: 20_000,
      replayStart: 200,
    },
  });
  await train(agent, env, { totalTimesteps: 40_000, seed: 1 });
  const actor = agent.policy({ deterministic: true });
  const { meanReturn } = await evaluate(actor, env, { episodes: 16, seed: 2 });
  agent.close();
  assert(meanReturn > 300, `mean return ${meanReturn}`);
});
