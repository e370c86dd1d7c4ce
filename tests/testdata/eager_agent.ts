/** README's agent, trained eagerly: in Deno, in Node and in pages. */
import { A2C } from "@bellman/a2c";
import {
  type BackendInfo,
  type BackendOptions,
  selectBackend,
} from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { evaluate, train } from "@bellman/training";

/** What was learned, and on which backend. */
export interface Learned {
  readonly backend: BackendInfo["name"];
  /** Of 10 episodes of the trained agent. */
  readonly meanReturn: number;
}

/** Trains on the backend `auto` for some thousand steps. */
export async function learn(options: BackendOptions = {}): Promise<Learned> {
  const { name: backend } = await selectBackend("auto", options);
  const totalTimesteps = 4000;
  const env = makeVec("CartPole-v1", { numEnvs: 8 });
  const config = { gamma: 0.98, learningRate: 0.003 };
  const agent = new A2C(env, { config, totalTimesteps, engine: "eager" });
  await train(agent, env, { totalTimesteps });
  const actor = agent.policy({ deterministic: true });
  const { meanReturn } = await evaluate(actor, env, { episodes: 10 });
  agent.close();
  return { backend, meanReturn };
}
