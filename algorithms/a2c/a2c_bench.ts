/**
 * Speed of acting and learning, and whether 10,000 updates leave the number of
 * tensors and the resident memory as they were. Run with `deno bench`.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { selectBackend } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { A2C } from "./a2c.ts";

const NUM_ENVS = 16;
const NUM_STEPS = 5;

await selectBackend("wasm");

function makeAgent(): A2C {
  return new A2C({
    observationSpace: {
      type: "box",
      shape: [4],
      low: -1,
      high: 1,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: 2 },
    numEnvs: NUM_ENVS,
  }, {
    config: {
      valueNetwork: "separate",
      objective: "shared",
      optimizer: "rmsprop_tf1",
      numSteps: NUM_STEPS,
    },
  });
}

const observations = Float32Array.from(
  { length: 4 * NUM_ENVS },
  (_, i) => Math.sin(i),
);
const step = {
  observations,
  finalObservations: observations,
  rewards: new Float64Array(NUM_ENVS).fill(1),
  terminated: new Uint8Array(NUM_ENVS),
  truncated: new Uint8Array(NUM_ENVS),
};

function learnOnce(agent: A2C): void {
  for (let i = 0; i < NUM_STEPS; i++) {
    agent.act(observations);
    agent.observe(step);
  }
  agent.update();
}

const agent = makeAgent();
const actor = agent.policy();

Deno.bench("act, 16 copies, 4-64-64 tanh, two networks", () => {
  actor.act(observations);
});

Deno.bench("update, batch 80, 4-64-64 tanh, two networks", (b) => {
  for (let i = 0; i < NUM_STEPS; i++) {
    agent.act(observations);
    agent.observe(step);
  }
  b.start();
  agent.update();
  b.end();
});

const MEGABYTE = 2 ** 20;

/** The garbage collector: only what it cannot free is measured. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

/** Resident memory in megabytes after garbage collection. */
function residentMemory(collect: () => void): number {
  collect();
  return Deno.memoryUsage().rss / MEGABYTE;
}

Deno.bench({
  name: "10,000 updates: tensors and resident memory stay flat",
  n: 1,
  warmup: 0,
  fn: () => {
    const agent = makeAgent();
    const collect = collector();
    for (let i = 0; i < 2000; i++) learnOnce(agent);
    const tensors = tf.memory().numTensors;
    const before = residentMemory(collect);
    for (let i = 0; i < 10_000; i++) learnOnce(agent);
    const grown = residentMemory(collect) - before;
    const more = tf.memory().numTensors - tensors;
    agent.close();
    if (more !== 0) throw new Error(`${more} tensors more than before`);
    if (grown > 16) throw new Error(`${grown.toFixed(0)} MB more than before`);
  },
});
