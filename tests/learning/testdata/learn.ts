/** Agents of every algorithm that learn toy tasks. */
import type { A2CConfig } from "@bellman/a2c";
import type { AcerConfig } from "@bellman/acer";
import type { AcktrConfig } from "@bellman/acktr";
import { Agent } from "@bellman/agent";
import type { AsyncConfig } from "@bellman/async";
import { ALGORITHMS } from "@bellman/runs/settings";
import { paramsFromArrays, selectBackend } from "@bellman/compute";
import type { ActorCritic } from "@bellman/policies";
import type { DqnConfig } from "@bellman/dqn";
import type { PpoConfig } from "@bellman/ppo";
import type { SacConfig } from "@bellman/sac";
import type { SacV1Config } from "@bellman/sac-v1";
import type { Td3Config } from "@bellman/td3";
import * as tf from "@tensorflow/tfjs";
import {
  CHAIN_LENGTH,
  learnOn,
  type ToyTask,
  ToyVecEnv,
} from "../toy_vec_env.ts";
import { ownOf } from "../../algorithms/forms.ts";

const SMALL_TD3 = {
  hiddenSizes: [32],
  batchSize: 64,
  bufferSize: 4000,
  learningStarts: 200,
  learningRate: 0.01,
} satisfies Partial<Td3Config>;

/** Settings of every task, by algorithm. */
const SMALL: Readonly<Record<string, object>> = {
  a2c: {
    numSteps: 5,
    gaeLambda: 1,
    normalizeAdvantage: false,
    learningRateSchedule: "constant",
    optimizer: "adam",
    valueNetwork: "shared",
  } satisfies Partial<A2CConfig>,
  acer: {
    learningRateSchedule: "constant",
    optimizer: "adam",
    numSteps: 6,
    bufferSize: 600,
    replayStart: 12,
    qNetwork: "shared",
  } satisfies Partial<AcerConfig>,
  acktr: {
    learningRateSchedule: "constant",
    numSteps: 6,
    klClip: 0.01,
  } satisfies Partial<AcktrConfig>,
  ppo: {
    learningRateSchedule: "constant",
    numSteps: 6,
    minibatches: 2,
    epochs: 4,
  } satisfies Partial<PpoConfig>,
  dqn: {
    bufferSize: 4000,
    learningStarts: 64,
    targetInterval: 20,
    tau: 1,
  } satisfies Partial<DqnConfig>,
  sac: {
    hiddenSizes: [32],
    batchSize: 64,
    bufferSize: 4000,
    learningRate: 0.01,
    initialTemperature: 1,
  } satisfies Partial<SacConfig>,
  "sac-v1": {
    hiddenSizes: [32],
    batchSize: 64,
    bufferSize: 4000,
    learningRate: 0.01,
    rewardScale: 20,
  } satisfies Partial<SacV1Config>,
  td3: SMALL_TD3,
  ddpg: SMALL_TD3,
  async: {
    learningRate: 0.01,
    learningRateSchedule: "constant",
    rmspropEpsilon: 1e-3,
    epsilonSteps: 1000,
    finalEpsilons: [0.1],
    finalEpsilonProbabilities: [1],
    targetInterval: 20,
  } satisfies Partial<AsyncConfig>,
};

/** Trains on a task for so many updates, and gives back the agent. */
export async function learn(
  name: string,
  task: ToyTask,
  { updates, config }: { updates: number; config: object },
): Promise<{ agent: Agent; env: ToyVecEnv }> {
  await selectBackend(
    ["sac", "sac-v1", "td3", "ddpg"].includes(name) ? "cpu" : "wasm",
  );
  const definition = ALGORITHMS.find((it) => it.meta.name === name)!;
  const isAsync = definition.startWorkers !== undefined;
  // A worker has one environment.
  const env = new ToyVecEnv(task, isAsync ? 1 : 8);
  const agent = new Agent(definition, env, {
    seed: 5,
    totalTimesteps: env.numEnvs * updates,
    config: {
      ...ownOf(definition, SMALL[isAsync ? "async" : name]),
      ...config,
    },
  });
  return { agent: await learnOn(agent, env, updates), env };
}

/** Values that an agent gives to the states of a chain. */
export function valuesOf(agent: Agent): number[] {
  const states = Array.from({ length: CHAIN_LENGTH }, (_, i) => i);
  if (agent.qValues !== undefined) {
    return states.map((it) => agent.qValues!([it], [0])[0]);
  }
  return tf.tidy(() => {
    const seen = agent.model
      .observationTensor(Int32Array.from(states), CHAIN_LENGTH);
    const { value } = (agent.model as ActorCritic)
      .apply(paramsFromArrays(agent.params), seen);
    return Array.from(value.dataSync());
  });
}
