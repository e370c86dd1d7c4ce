/** Agents that learn CartPole. */
import { Agent } from "@bellman/agent";
import { ALGORITHMS } from "@bellman/runs/settings";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { evaluate, train } from "@bellman/training";
import { assert } from "@std/assert";

/** Settings of runs on CartPole, and the mean return that they reach. */
interface PoleRun {
  numEnvs: number;
  totalTimesteps: number;
  seeds: number[];
  least: number;
  config?: object;
}

/** Runs of algorithms; all but the first seeds are in `tests/long`. */
export const POLES: Readonly<Record<string, PoleRun>> = {
  a2c: {
    numEnvs: 8,
    totalTimesteps: 80_000,
    seeds: [1],
    least: 150,
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
  },
  acer: {
    numEnvs: 4,
    totalTimesteps: 40_000,
    seeds: [1],
    least: 300,
    config: {
      learningRate: 0.006,
      entropyCoefficient: 0.03,
      qNetwork: "separate",
      bufferSize: 20_000,
      replayStart: 200,
    },
  },
  // Its default rollouts and epochs hold on every seed where observations are scaled,
  // as on the command line; these without.
  ppo: {
    numEnvs: 8,
    totalTimesteps: 20_000,
    seeds: [1, 2],
    least: 300,
    config: { numSteps: 32, epochs: 20 },
  },
  // Its defaults.
  acktr: {
    numEnvs: 8,
    totalTimesteps: 150_000,
    seeds: [1, 2, 3, 4],
    least: 475,
  },
};

/** Tests that an algorithm learns CartPole from a seed. */
export function testPole(algorithm: string, seed: number): void {
  const { numEnvs, totalTimesteps, least, config } = POLES[algorithm];
  Deno.test(`${algorithm} learns to balance a pole for a while, seed ${seed}`, async () => {
    await selectBackend("wasm");
    const definition = ALGORITHMS.find(({ meta }) => meta.name === algorithm)!;
    const env = makeVec("CartPole-v1", { numEnvs });
    const agent = new Agent(definition, env, { seed, totalTimesteps, config });
    await train(agent, env, { totalTimesteps, seed });
    const actor = agent.policy({ deterministic: true });
    const judged = await evaluate(actor, env, { episodes: 16, seed: 99 });
    agent.close();
    // Other tests of this process expect the other one.
    await selectBackend("cpu");
    assert(judged.meanReturn > least, `mean return ${judged.meanReturn}`);
  });
}
