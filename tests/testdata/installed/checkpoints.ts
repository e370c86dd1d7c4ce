/**
 * `write FOLDER`: trains agents for some steps, keeps checkpoints and an exported
 * policy, and prints what the policies do; `read FOLDER`: trains them on from there,
 * and prints what they do then.
 */
import { A2C } from "@bellman/a2c";
import { ACER } from "@bellman/acer";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { SAC } from "@bellman/sac";
import { CheckpointStore, evaluate, train } from "@bellman/training";
import { writeFile } from "node:fs/promises";
import process from "node:process";

const STEPS = { write: 600, read: 900 };

const [action, folder] = process.argv.slice(2) as ["write" | "read", string];
const totalTimesteps = STEPS[action];
await selectBackend("wasm");
for (const engine of ["eager", "onnx"] as const) {
  for (const algorithm of [A2C, ACER, SAC]) {
    const id = algorithm === SAC ? "Pendulum-v1" : "CartPole-v1";
    const env = makeVec(id, { numEnvs: 4 });
    const agent = new algorithm(env, {
      totalTimesteps: STEPS.read,
      seed: 1,
      engine,
      config: { hiddenSizes: [16] },
    });
    const store = new CheckpointStore(`${folder}/${algorithm.name}-${engine}`);
    const result = await train(agent, env, {
      totalTimesteps,
      seed: 1,
      checkpoints: { store },
      resumeFrom: action === "read" ? store.load("latest").state : undefined,
    });
    const policy = agent.policy({ deterministic: true });
    const { meanReturn } = await evaluate(policy, env, { seed: 2 });
    // SAC calls `Math.log` and the like, which differ in the last bit.
    const shown = `${result.step} steps, ${meanReturn.toFixed(2)}`;
    process.stdout.write(`${algorithm.name} on ${engine}: ${shown}\n`);
    if (algorithm === A2C && engine === "eager" && action === "write") {
      await writeFile(`${folder}/policy.onnx`, agent.exportPolicy());
      const first = makeVec(id, { numEnvs: 1000 }).reset({ seed: 3 });
      const observations = (first as Float32Array).map((it) => 20 * it);
      const actor = agent.policy({ deterministic: true, numEnvs: 1000 });
      process.stdout.write(`actions: ${actor.act(observations).join("")}\n`);
    }
    agent.close();
  }
}
