import { ACKTR, type AcktrConfig } from "@bellman/acktr";
import { paramsFromArrays, selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { evaluate, train } from "@bellman/training";
import { assert, assertAlmostEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  assertIdentity,
  CUES,
  CUT_CHAIN,
  evaluated,
  GAMMA,
  IDENTITIES,
  type IdentityKind,
  learnOn,
  type ToyTask,
  ToyVecEnv,
} from "./toy_vec_env.ts";

const NUM_ENVS = 8;
const SMALL: Partial<AcktrConfig> = {
  learningRateSchedule: "constant",
  numSteps: 6,
  klClip: 0.01,
};

/** Trains on a task for so many rollouts. */
async function learn(
  task: ToyTask,
  { rollouts, config }: { rollouts: number; config: Partial<AcktrConfig> },
): Promise<{ agent: ACKTR; env: ToyVecEnv }> {
  await selectBackend("wasm");
  const env = new ToyVecEnv(task, NUM_ENVS);
  const agent = new ACKTR(env, { seed: 5, config: { ...SMALL, ...config } });
  return { agent: await learnOn(agent, env, rollouts), env };
}

const SEPARATE: Partial<AcktrConfig> = {
  objective: "separate",
  valueNetwork: "separate",
};
const BOX: Partial<AcktrConfig> = {
  klClip: 0.003,
  entropyCoefficient: 0,
  coldLearningRate: 0.01,
};
const SAYS: Record<string, [IdentityKind, number, Partial<AcktrConfig>?]> = {
  "discrete actions": ["discrete", 120, { valueNetwork: "shared" }],
  "separate objectives": ["discrete", 120, SEPARATE],
  "several discrete actions": ["multiDiscrete", 200],
  "flags": ["multiBinary", 200],
  "box actions": ["box", 600, BOX],
};

for (const [name, [kind, rollouts, config]] of Object.entries(SAYS)) {
  Deno.test(`acktr learns to say what it sees, ${name}`, async () => {
    const learned = await learn(IDENTITIES[kind], {
      rollouts,
      config: { gamma: 0, hiddenSizes: [32], ...config },
    });
    assertIdentity(kind, learned);
  });
}

Deno.test("acktr with lstm remembers what it saw two steps ago", async () => {
  const reward = evaluated(
    await learn(CUES, {
      rollouts: 200,
      config: { network: "lstm", lstmSize: 8 },
    }),
  );
  // One step in three pays, and 16 steps hold five of those.
  assertAlmostEquals(reward, 5 / 16, 1e-6);
});

Deno.test("a chain cut by a time limit is worth 1 / (1 - gamma) to acktr", async () => {
  const { agent } = await learn(CUT_CHAIN, {
    rollouts: 300,
    config: { gamma: GAMMA, hiddenSizes: [], klClip: 0.1 },
  });
  const value = tf.tidy(() =>
    agent.model.apply(
      paramsFromArrays(agent.params),
      agent.model.observationTensor(Int32Array.of(0), 1),
    ).value.dataSync()[0]
  );
  agent.close();
  assertAlmostEquals(value, 1 / (1 - GAMMA), 0.05);
});

for (const seed of [1, 2, 3, 4]) {
  Deno.test(`acktr learns to balance a pole with its defaults, seed ${seed}`, async () => {
    await selectBackend("wasm");
    const env = makeVec("CartPole-v1", { numEnvs: 8 });
    const totalTimesteps = 150_000;
    const agent = new ACKTR(env, { seed, totalTimesteps });
    await train(agent, env, { totalTimesteps, seed });
    const actor = agent.policy({ deterministic: true });
    const judged = await evaluate(actor, env, { episodes: 16, seed: 99 });
    agent.close();
    assert(judged.meanReturn > 475, `mean return ${judged.meanReturn}`);
  });
}
