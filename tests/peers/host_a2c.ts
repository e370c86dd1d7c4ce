/** A2C on CartPole-v1, as it trains in Deno, in Node and in pages. */
import { A2C } from "@bellman/a2c";
import { type EngineName, selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { evaluate } from "@bellman/training";
import { trainRate } from "./train_rate.ts";

/** What is measured, and where a page has the binaries of WebAssembly. */
export interface HostTask {
  readonly engine: EngineName;
  readonly warmup: number;
  readonly steps: number;
  readonly wasmPaths?: string;
}

/** Trains on one thread; returns steps a second, and what is learned. */
export async function measure(
  { engine, wasmPaths, ...span }: HostTask,
): Promise<{ rate: number; mean_return: number }> {
  await selectBackend("wasm", { wasmPaths });
  const env = makeVec("CartPole-v1", { numEnvs: 8 });
  const agent = new A2C(env, {
    config: { gamma: 0.98, learningRate: 0.003 },
    totalTimesteps: span.steps,
    engine,
    threads: 1,
    seed: 0,
  });
  const rate = await trainRate(agent, env, { ...span, seed: 0 });
  const policy = agent.policy({ deterministic: true });
  const { meanReturn } = await evaluate(policy, env, { seed: 1 });
  agent.close();
  return { rate, mean_return: meanReturn };
}
