import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { MadeUpEnv, spacesOf } from "../agent/testdata/made_up_env.ts";
import type { PpoConfig } from "./config.ts";
import { PPO } from "./ppo.ts";

await tf.setBackend("cpu");

const numEnvs = 4, SPACES = spacesOf("discrete", numEnvs);
const LSTM = { network: "lstm", lstmSize: 4 } as const;
const SMALL: Partial<PpoConfig> = {
  numSteps: 8,
  minibatches: 1,
  epochs: 1,
  hiddenSizes: [8],
  learningRate: 0.01,
};

Deno.test("the policy that learns first is the one that acted, whatever the sequences", () => {
  for (
    const config of [
      {},
      LSTM,
      { ...LSTM, sequenceLength: 4 },
      { ...LSTM, sequenceLength: 1, valueNetwork: "shared" },
    ] as const
  ) {
    const agent = new PPO(SPACES, { config: { ...SMALL, ...config }, seed: 1 });
    for (const stats of new MadeUpEnv(SPACES).play(agent, 24).updates) {
      // A ratio of 1 says that each sequence begins with the state that acting had.
      assertAlmostEquals(stats.approx_kl, 0, 1e-6);
      assert(stats.clip_fraction === 0 && stats.grad_norm > 0);
    }
    agent.close();
  }
});

Deno.test("Gaussian actions are clipped to their bounds, squashed ones are within", () => {
  const spaces = spacesOf("box"), config = { ...SMALL, initialLogStd: 1 };
  for (const actions of ["gaussian", "squashed"] as const) {
    for (const useSde of [false, true]) {
      const agent = new PPO(spaces, { config: { ...config, actions, useSde } });
      const { updates } = new MadeUpEnv(spaces).play(agent, 16);
      const [first, second] = updates.map((stats) => stats.clipped_actions);
      if (actions === "gaussian") assert(first > 0 && second < 1);
      else assertEquals(first, undefined);
      for (const stats of updates) {
        assertAlmostEquals(stats.approx_kl, 0, 1e-5);
        assert(Number.isFinite(stats.entropy) && stats.grad_norm > 0);
      }
      agent.close();
    }
  }
});

Deno.test("masks that allow nothing of a part of an action are refused", () => {
  const actionSpace = { type: "multiDiscrete", nvec: [1, 2] } as const;
  const agent = new PPO({ ...SPACES, actionSpace, actionMasks: true }, {
    config: SMALL,
  });
  const observations = new Float32Array(3 * numEnvs);
  const actionMasks = new Uint8Array(3 * numEnvs).fill(1);
  agent.act(observations, actionMasks);
  actionMasks.fill(0, 4, 6);
  assertThrows(
    () =>
      agent.observe({
        observations,
        rewards: new Float64Array(numEnvs),
        terminated: new Uint8Array(numEnvs),
        truncated: new Uint8Array(numEnvs),
        finalObservations: observations,
        actionMasks,
        finalActionMasks: actionMasks,
      }),
    RangeError,
    "Cannot use part 1 of the action mask of copy 1 at step 4: it is 0 for all 2 choices",
  );
  agent.close();
});

Deno.test("rates and ranges are those of a rollout's first step", () => {
  const agent = new PPO(SPACES, {
    config: { ...SMALL, clipRangeSchedule: "linear" },
    totalTimesteps: 2 * 8 * numEnvs,
  });
  const rates = new MadeUpEnv(SPACES).play(agent, 16).updates
    .map((stats) => stats.learning_rate);
  agent.close();
  assertAlmostEquals(rates[0], 0.01, 1e-7);
  assertAlmostEquals(rates[1], 0.005, 1e-7);
});

Deno.test("settings that do not fit together are refused in one line", () => {
  const cases: [Partial<PpoConfig>, string][] = [
    [
      { minibatches: 5 },
      "Cannot run PPO with minibatches = 5 of 32 steps (numEnvs = 4, numSteps = 8): expected a divisor of 32",
    ],
    [
      { minibatches: 32 },
      "Cannot run PPO with minibatches = 32 of one step each and normalizeAdvantage: true: expected at least 2 steps, or normalizeAdvantage: false",
    ],
    [
      { sequenceLength: 4 },
      "Cannot run PPO with sequenceLength = 4 and a network without memory: expected a recurrent network, or sequenceLength: null",
    ],
    [
      { ...LSTM, sequenceLength: 3 },
      "Cannot run PPO with sequenceLength = 3 and numSteps = 8: expected a divisor of numSteps",
    ],
    [
      { ...LSTM, minibatches: 8 },
      "Cannot run PPO with minibatches = 8 of 4 sequences (numEnvs = 4, numSteps = 8): expected a divisor of 4",
    ],
    [
      { clipRange: 0 },
      "Cannot run PPO with clipRange = 0: expected a number above 0",
    ],
    [
      { actions: "squashed" },
      "Cannot run PPO with actions: squashed and discrete actions: expected box actions",
    ],
  ];
  for (const [config, message] of cases) {
    assertThrows(
      () => new PPO(SPACES, { config: { ...SMALL, ...config } }),
      RangeError,
      message,
    );
  }
});
