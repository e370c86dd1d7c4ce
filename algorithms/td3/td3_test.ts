import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  defaultDdpgConfig,
  defaultTd3Config,
  type Td3Config,
} from "./config.ts";
import { ddpg, TD3, td3 } from "./td3.ts";

await tf.setBackend("cpu");

const SPACES = {
  observationSpace: { type: "discrete", n: 2 },
  actionSpace: { type: "box", shape: [1], low: 2, high: 6, dtype: "float32" },
  numEnvs: 2,
} as const;
const SMALL = {
  hiddenSizes: [8],
  batchSize: 4,
  learningStarts: 8,
  bufferSize: 100,
};

/** Steps an agent whose actions are worth nothing; returns actions and updates. */
function play(agent: TD3, steps: number) {
  const actions: number[] = [], observations = Int32Array.of(0, 1);
  for (let step = 0; step < steps; step++) {
    actions.push(...agent.act(observations));
    agent.observe({
      observations,
      rewards: Float64Array.of(1, 2),
      terminated: Uint8Array.of(0, 1),
      truncated: new Uint8Array(2),
      finalObservations: observations,
    });
    agent.update();
  }
  return actions;
}

Deno.test("the policy moves with each policyDelay-th update alone", () => {
  const config = { ...SMALL, policyDelay: 3 };
  const agent = new TD3(SPACES, { config, seed: 1 });
  play(agent, 3); // 6 of 8 transitions
  const moves: number[] = [];
  for (let before = agent.params; agent.updates < 9; before = agent.params) {
    play(agent, 1);
    const [path] = Object.keys(before);
    const isSame =
      String(before[path].data) === String(agent.params[path].data);
    if (!isSame) moves.push(agent.updates);
  }
  assertEquals(moves, [3, 6, 9]);
  agent.close();
});

Deno.test("an environment gets actions in its bounds, an evaluation without noise", () => {
  const config = { ...SMALL, explorationNoise: 5 };
  const agent = new TD3(SPACES, { config, seed: 1 });
  const actions = play(agent, 40);
  assert(actions.every((it) => it >= 2 && it <= 6));
  assert(actions.includes(2) && actions.includes(6));
  const seen = Int32Array.of(0, 0);
  const [first, second] = agent.policy({ numEnvs: 2 }).act(seen);
  assertEquals(first, second);
  const [again] = agent.policy({ seed: 9 }).act(seen);
  assertEquals(again, first);
  agent.close();
});

Deno.test("DDPG is TD3 with one critic, no delay and no target noise", () => {
  const own: Partial<Td3Config> = {
    numCritics: 1,
    policyDelay: 1,
    targetNoise: 0,
  };
  assertEquals(defaultDdpgConfig, { ...defaultTd3Config, ...own });
  assertEquals(ddpg.build, td3.build);
});

Deno.test("settings that do nothing are named", () => {
  const idle = td3.meta.unusedSettings!(defaultTd3Config, {});
  assertEquals(Object.keys(idle), [
    "priorityAlpha",
    "priorityBeta",
    "priorityEpsilon",
    "lstmSize",
  ]);
  const rank = { ...defaultDdpgConfig, replay: "rank" } as const;
  assertEquals(ddpg.meta.unusedSettings!(rank, {}), {
    lstmSize: "the network auto has no memory",
    targetNoiseClip: "targetNoise is 0",
  });
});
