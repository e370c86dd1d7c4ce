// deno-lint-ignore-file no-console -- a program that prints
/**
 * Makes an agent where nobody has selected a backend, then takes steps of its own and
 * trains: prints notices, and the backend after each. Run by a test.
 */
import { a2c } from "@bellman/a2c";
import { Agent } from "@bellman/agent";
import { makeVec } from "@bellman/envs";
import { train } from "@bellman/training";
import * as tf from "@tensorflow/tfjs";

const print = (line: string) => console.log(line);
const env = makeVec("CartPole-v1", { numEnvs: 2 });
const agent = new Agent(a2c, env, {
  config: { hiddenSizes: [4], numSteps: 2 },
  engine: "eager",
  onNotice: print,
});
let observations = env.reset({ seed: 1 });
for (let i = 0; i < 4; i++) {
  const step = env.step(agent.act(observations));
  agent.observe(step);
  agent.update();
  observations = step.observations;
}
print(tf.getBackend());
await train(agent, env, { totalTimesteps: 8 });
print(tf.getBackend());
