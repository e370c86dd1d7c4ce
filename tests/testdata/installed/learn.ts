/**
 * Trains each algorithm for some steps and prints what its policy then gets:
 * with the engines that are named, on Deno and on Node.
 */
import { A2C } from "@bellman/a2c";
import { ACER } from "@bellman/acer";
import { ACKTR } from "@bellman/acktr";
import { type EngineName, selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { PPO } from "@bellman/ppo";
import { SAC } from "@bellman/sac";
import { evaluate, train } from "@bellman/training";
import process from "node:process";

const STEPS = 1100;

await selectBackend("wasm");
for (const engine of process.argv.slice(2) as EngineName[]) {
  for (const algorithm of [A2C, PPO, ACER, ACKTR, SAC]) {
    const id = algorithm === SAC ? "Pendulum-v1" : "CartPole-v1";
    const env = makeVec(id, { numEnvs: 4 });
    const agent = new algorithm(env, {
      totalTimesteps: STEPS,
      seed: 1,
      engine,
      config: { hiddenSizes: [16] },
    });
    await train(agent, env, { totalTimesteps: STEPS, seed: 1 });
    const policy = agent.policy({ deterministic: true });
    const { meanReturn } = await evaluate(policy, env, { seed: 2 });
    // Their `Math.sin` and the like differ in the last bit.
    const result = meanReturn.toFixed(6);
    process.stdout.write(`${algorithm.name} on ${engine}: ${result}\n`);
    agent.close();
  }
}
