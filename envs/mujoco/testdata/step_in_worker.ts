/** Makes and steps environments in a worker, and tells what came of it. */
import { MujocoVecEnv } from "../mod.ts";

let sum = 0;
for (let round = 0; round < 5; round++) {
  const env = new MujocoVecEnv("Ant", { numEnvs: 2 });
  env.reset({ seed: 1 });
  for (let i = 0; i < 20; i++) {
    const { observations } = env.step(new Float32Array(16).fill(0.3));
    sum = (observations as Float64Array).reduce((a, b) => a + b);
  }
  env.close();
}
(globalThis as unknown as { postMessage(data: number): void }).postMessage(sum);
