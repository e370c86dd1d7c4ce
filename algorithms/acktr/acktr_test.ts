// deno-lint-ignore-file no-console -- warnings go there
import type { AgentOptions } from "@bellman/agent";
import type { Space } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  observationsAt,
  stepAt,
  takeSteps,
} from "../../tests/testdata/made_up_steps.ts";
import { ACKTR } from "./acktr.ts";
import type { AcktrConfig } from "./config.ts";

await tf.setBackend("cpu");

const OBSERVATION: Space = {
  type: "box",
  shape: [3],
  low: -1,
  high: 1,
  dtype: "float32",
};
const DISCRETE: Space = { type: "discrete", n: 3 };
const NUM_ENVS = 3;
const SMALL: Partial<AcktrConfig> = {
  hiddenSizes: [8],
  lstmSize: 4,
  numSteps: 4,
  valueNetwork: "shared",
  coldUpdates: 1,
  invertEvery: 2,
};

function agentOf(
  config: Partial<AcktrConfig> = {},
  { actionSpace = DISCRETE, ...options }:
    & { actionSpace?: Space }
    & Omit<AgentOptions<AcktrConfig>, "config"> = {},
): ACKTR {
  const spaces = { observationSpace: OBSERVATION, actionSpace };
  return new ACKTR({ ...spaces, numEnvs: NUM_ENVS }, {
    config: { ...SMALL, ...config },
    seed: 1,
    totalTimesteps: 10_000,
    ...options,
  });
}

/** Takes steps and gives back all that was decided and learned. */
function run(agent: ACKTR, from: number, count: number): unknown[] {
  return takeSteps(agent, { from, count, numEnvs: NUM_ENVS });
}

/** The statistics of the updates alone. */
function updates(seen: readonly unknown[]): Record<string, number>[] {
  return seen.filter((it, i) => i % 2 === 1 && it !== undefined) as Record<
    string,
    number
  >[];
}

const SEPARATE: Partial<AcktrConfig> = {
  valueNetwork: "separate",
  objective: "separate",
};
const KINDS: Record<string, [Partial<AcktrConfig>, Space?]> = {
  "mlp": [{}],
  "actions from 5": [{}, { type: "discrete", n: 2, start: 5 }],
  "actions as they were taken": [{ fisherActions: "taken" }],
  "two networks": [{ valueNetwork: "separate" }],
  "two networks and objectives": [SEPARATE],
  "box actions": [{}, OBSERVATION],
  "box actions, two objectives": [SEPARATE, OBSERVATION],
  "state-dependent noise": [
    { useSde: true, sdeSampleFrequency: 3 },
    OBSERVATION,
  ],
  "several discrete actions": [{}, { type: "multiDiscrete", nvec: [2, 3] }],
  "flags": [{}, { type: "multiBinary", n: 2 }],
  "lstm": [{ network: "lstm" }],
  "lnlstm with two networks": [{ network: "lnlstm", valueNetwork: "separate" }],
  "inverses": [{ kfacForm: "inverse", klClipKind: "kl" }],
  "ekfac, no clip, no momentum": [
    { kfacForm: "ekfac", klClip: null, momentum: 0, learningRate: 0.01 },
  ],
  "rare statistics": [{ covUpdateEvery: 2, coldUpdates: 0, maxGradNorm: null }],
};

for (const [name, [config, actionSpace]] of Object.entries(KINDS)) {
  Deno.test(`a restored agent goes on bit for bit: ${name}`, () => {
    const original = agentOf(config, { actionSpace });
    run(original, 0, 22); // stops in the middle of a rollout, after inversions
    const state = original.save();
    const wanted = run(original, 22, 21);
    for (const it of updates(wanted)) {
      assertEquals(it.steps_skipped, 0);
      assert(Number.isFinite(it.loss));
    }

    const other = agentOf(config, { actionSpace, seed: 99 });
    run(other, 3, 7);
    other.load(state);
    assertEquals(run(other, 22, 21), wanted);
    assertEquals(other.save(), original.save());
    original.close();
    other.close();
  });
}

Deno.test("factors, inverses and counters are in the saved state", () => {
  const agent = agentOf(SEPARATE);
  run(agent, 0, 20);
  const { learned } = agent.save() as unknown as {
    learned: Record<string, Record<string, { data: Float32Array }>>;
  };
  agent.close();
  const { optimizer } = learned;
  for (const name of ["policy", "value"]) {
    const head = name === "policy" ? "pi/head/kernel" : "vf/head/kernel";
    assertEquals(optimizer[`${name}/step`].data[0], 5);
    for (const slot of ["input", "output", "basis_input"]) {
      const { data } = optimizer[`${name}/${slot}/${head}`];
      assert(data.some((it) => it !== 0), `${name}/${slot}`);
    }
  }
  const foreign = Object.keys(optimizer).filter((path) =>
    path.startsWith("policy/") && path.includes("vf/")
  );
  assertEquals(foreign, []);
});

Deno.test("the same seed gives the same run, another seed another one", () => {
  const [first, same, other] = [1, 1, 2].map((seed) => {
    const agent = agentOf({}, { seed });
    const seen = run(agent, 0, 20);
    agent.close();
    return JSON.stringify(seen);
  });
  assertEquals(same, first);
  assert(other !== first);
});

Deno.test("the learning rate falls linearly with the steps", () => {
  const agent = agentOf();
  const [first, second] = updates(run(agent, 0, 8));
  agent.close();
  assertAlmostEquals(first.learning_rate, 0.25 * (1 - 11 / 10_000), 1e-4);
  assert(second.learning_rate < first.learning_rate);
});

Deno.test("steps are shortened to klClip once there is an inverse", () => {
  const agent = agentOf({ klClip: 1e-9 });
  const seen = updates(run(agent, 0, 32));
  agent.close();
  const last = seen[seen.length - 1];
  assert(last.trust_region_factor < 0.1, `${last.trust_region_factor}`);
});

Deno.test("the value's own steps have a bound of their own", () => {
  const [base, own] = [null, 1e-9].map((valueKlClip) => {
    const agent = agentOf({ ...SEPARATE, valueKlClip });
    run(agent, 0, 20); // one step after the first inversion
    const { params } = agent;
    agent.close();
    return params;
  });
  assertEquals(own["pi/head/bias"], base["pi/head/bias"]);
  assert(own["vf/head/bias"].data[0] !== base["vf/head/bias"].data[0]);
});

Deno.test("the first steps are those of gradient descent, clipped", () => {
  const moved = [0.5, 1e-3].map((maxGradNorm) => {
    const agent = agentOf({
      maxGradNorm,
      coldUpdates: 9,
      coldLearningRate: null,
      momentum: 0,
    });
    const before = agent.params;
    run(agent, 0, 4);
    const after = agent.params;
    agent.close();
    const squares = Object.entries(after).flatMap(([path, { data }]) =>
      Array.from(data, (it, i) => (it - before[path].data[i]) ** 2)
    );
    return Math.sqrt(squares.reduce((sum, it) => sum + it, 0));
  });
  // 0.25 * 1e-3, but for the decay of the learning rate.
  assertAlmostEquals(moved[1], 0.25e-3, 1e-6);
  assert(moved[0] > 10 * moved[1]);
});

Deno.test("cold updates have a learning rate of their own", () => {
  const [base, own] = [null, 0.125].map((coldLearningRate) => {
    const agent = agentOf({ coldLearningRate, coldUpdates: 9, momentum: 0 });
    const before = agent.params["pi/head/bias"].data;
    run(agent, 0, 4);
    const after = agent.params["pi/head/bias"].data;
    agent.close();
    return Array.from(after, (it, i) => it - before[i]);
  });
  base.forEach((it, i) => assertAlmostEquals(own[i], it / 2, 1e-6));
});

Deno.test("a number that is not finite skips the step, with one warning", () => {
  const lines: string[] = [];
  const warn = console.warn;
  console.warn = (line: string) => lines.push(line);
  try {
    const agent = agentOf();
    run(agent, 0, 8);
    const before = agent.params;
    for (let time = 8; time < 16; time++) {
      agent.act(observationsAt(time, NUM_ENVS));
      agent.observe({
        ...stepAt(time, NUM_ENVS),
        rewards: new Float64Array(NUM_ENVS).fill(3e38),
      });
      const stats = agent.update();
      if (stats) assertEquals(stats.steps_skipped, 1);
    }
    assertEquals(agent.params, before);
    agent.close();
  } finally {
    console.warn = warn;
  }
  assertEquals(lines.length, 1);
  assert(/^Skipped a step of K-FAC: .* is not finite$/.test(lines[0]));
});

for (const engine of ["onnx", "eager"] as const) {
  for (const config of [{ network: "lstm" }, SEPARATE] as const) {
    const name = Object.values(config).join(" ");
    Deno.test(`updates keep the number of tensors, ${engine}, ${name}`, () => {
      const first = tf.memory().numTensors;
      const agent = agentOf(config, { engine });
      run(agent, 0, 8);
      const before = tf.memory().numTensors;
      run(agent, 8, 40);
      assertEquals(tf.memory().numTensors, before);
      agent.close();
      assertEquals(tf.memory().numTensors, first);
    });
  }
}

Deno.test("impossible settings are one clear line", () => {
  const refused = (config: Partial<AcktrConfig>, message: string) =>
    assertThrows(() => agentOf(config), RangeError, message);
  refused({ klClip: 0 }, "klClip = 0: expected a number above 0");
  refused(
    { invertEvery: 0 },
    "invertEvery = 0: expected a whole number of at least 1",
  );
  refused({ damping: 0 }, "damping = 0: expected a number above 0");
  refused(
    { objective: "separate" },
    "Cannot run ACKTR with objective: separate and valueNetwork: shared: expected valueNetwork: separate",
  );
  assertThrows(
    () =>
      new ACKTR({
        observationSpace: OBSERVATION,
        actionSpace: DISCRETE,
        numEnvs: 1,
      }, { config: { numSteps: 1 } }),
    RangeError,
    "Cannot run ACKTR with numEnvs = 1 and numSteps = 1: expected at least 2 steps for the factors of an update, as those of 1 have rank 1",
  );
  assertThrows(
    () => agentOf({}, { actionSpace: { type: "tuple", spaces: [DISCRETE] } }),
    TypeError,
    "tuple actions",
  );
});
