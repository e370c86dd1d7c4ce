/**
 * Speed of SAC with a full replay buffer of a million transitions, in memory and
 * in a file: a step and an update, observations of 17 numbers, actions of 6,
 * networks 256-256, 256 rows, one thread. Run with `deno bench`.
 */
import type { AgentSpaces } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { SeededRandom } from "@bellman/envs";
import type { VecStep } from "@bellman/types";
import { SAC } from "./sac.ts";

const TRANSITIONS = 1_000_000, NUM_ENVS = 1;

await selectBackend("cpu");
const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
const spaces: AgentSpaces = {
  observationSpace: { ...box, shape: [17] },
  actionSpace: { ...box, shape: [6] },
  numEnvs: NUM_ENVS,
};

const random = new SeededRandom(1);
const observations = Float32Array.from(
  { length: 17 * NUM_ENVS },
  () => random.uniform() - 0.5,
);
const step: VecStep = {
  observations,
  finalObservations: observations,
  rewards: new Float64Array(NUM_ENVS).fill(0.5),
  terminated: new Uint8Array(NUM_ENVS),
  truncated: new Uint8Array(NUM_ENVS),
};

const folder = await Deno.makeTempDir({ prefix: "bellman-bench-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});

function agentOf(replayStorage: "memory" | "file"): SAC {
  const agent = new SAC(spaces, {
    config: { replayStorage, learningStarts: TRANSITIONS },
    engine: "onnx",
    threads: 1,
  });
  if (replayStorage === "file") agent.openReplay(`${folder}/replay.rows`);
  for (let i = 0; i < TRANSITIONS / NUM_ENVS - 1; i++) {
    agent.act(observations);
    agent.observe(step);
  }
  return agent;
}

for (const storage of ["memory", "file"] as const) {
  const agent = agentOf(storage);
  Deno.bench(`step and update, replay in ${storage}`, {
    group: "replay",
    baseline: storage === "memory",
  }, () => {
    agent.act(observations);
    agent.observe(step);
    agent.update();
  });
}
