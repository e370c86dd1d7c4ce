// deno-lint-ignore-file no-console -- a program that prints
/** Updates per processor second of learning from data, drawing of batches included. */
import { Agent, type Algorithm } from "@bellman/agent";
import { Dataset } from "@bellman/buffers/datasets";
import { type Engine, RandomStream, selectBackend } from "@bellman/compute";
import { bc, iql } from "@bellman/offline";
import { td3 } from "@bellman/td3";
import { processorMs } from "./median_ms.ts";

const task = {
  algorithm: "bc",
  engine: "onnx" as Engine,
  updates: 600,
  ...JSON.parse(Deno.args[0]),
};
const OBSERVATION = 17, ACTION = 6, STEPS = 1000, EPISODES = 20;

await selectBackend("cpu");
const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
const spaces = {
  observationSpace: {
    ...box,
    shape: [OBSERVATION],
    low: -Infinity,
    high: Infinity,
  },
  actionSpace: { ...box, shape: [ACTION] },
};
const random = new RandomStream(0);
const normal = (size: number) => random.fillNormal(new Float32Array(size));
const data = new Dataset(
  Array.from({ length: EPISODES }, () => ({
    observations: normal((STEPS + 1) * OBSERVATION),
    actions: normal(STEPS * ACTION).map(Math.tanh),
    rewards: normal(STEPS),
    terminations: new Uint8Array(STEPS),
    truncations: new Uint8Array(STEPS).fill(1, STEPS - 1),
  })),
  { ...spaces, holdout: 0 },
);
// deno-lint-ignore no-explicit-any -- algorithms of any settings
const ALGORITHMS: Record<string, [Algorithm<any>, object]> = {
  bc: [bc, { policy: "deterministic" }],
  "td3+bc": [td3, { dataShare: 1, bcAlpha: 2.5 }],
  iql: [iql, {}],
};
const [algorithm, config] = ALGORITHMS[task.algorithm];
const agent = new Agent(algorithm, { ...spaces, numEnvs: 1 }, {
  data,
  config: { batchSize: 256, ...config },
  totalTimesteps: 1e6,
  engine: task.engine,
  threads: 1,
});
let started = 0;
for (let i = -100; i < task.updates; i++) {
  if (i === 0) started = processorMs();
  agent.advance!();
  agent.update();
}
console.log(1000 * task.updates / (processorMs() - started));
