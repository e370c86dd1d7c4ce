// deno-lint-ignore-file no-console -- warnings go there
import type { AgentOptions } from "@bellman/agent";
import type { Statistics } from "@bellman/types";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { MadeUpEnv, spacesOf } from "../agent/testdata/made_up_env.ts";
import { ACKTR } from "./acktr.ts";
import type { AcktrConfig } from "./config.ts";

await tf.setBackend("cpu");

const SPACES = spacesOf("discrete", 3);
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
  options: Omit<AgentOptions<AcktrConfig>, "config"> = {},
): ACKTR {
  return new ACKTR(SPACES, {
    config: { ...SMALL, ...config },
    seed: 1,
    totalTimesteps: 10_000,
    ...options,
  });
}

/** Takes the first steps and gives back the statistics of the updates. */
function run(agent: ACKTR, steps: number): Statistics[] {
  return new MadeUpEnv(SPACES).play(agent, steps).updates;
}

const SEPARATE: Partial<AcktrConfig> = {
  valueNetwork: "separate",
  objective: "separate",
};

Deno.test("factors, inverses and counters are in the saved state", () => {
  const agent = agentOf(SEPARATE);
  run(agent, 20);
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

Deno.test("the learning rate falls linearly with the steps", () => {
  const agent = agentOf();
  const [first, second] = run(agent, 8);
  agent.close();
  assertAlmostEquals(first.learning_rate, 0.25 * (1 - 11 / 10_000), 1e-4);
  assert(second.learning_rate < first.learning_rate);
});

Deno.test("steps are shortened to klClip once there is an inverse", () => {
  const agent = agentOf({ klClip: 1e-9 });
  const seen = run(agent, 32);
  agent.close();
  const last = seen[seen.length - 1];
  assert(last.trust_region_factor < 0.1, `${last.trust_region_factor}`);
});

Deno.test("the value's own steps have a bound of their own", () => {
  const [base, own] = [null, 1e-9].map((valueKlClip) => {
    const agent = agentOf({ ...SEPARATE, valueKlClip });
    run(agent, 20); // one step after the first inversion
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
    run(agent, 4);
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
    run(agent, 4);
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
    const env = new MadeUpEnv(SPACES);
    env.play(agent, 8);
    const before = agent.params;
    for (let i = 0; i < 8; i++) {
      const step = env.step(agent.act(env.observations));
      agent.observe({ ...step, rewards: step.rewards.fill(3e38) });
      const stats = agent.update();
      if (stats) assertEquals(stats.steps_skipped, 1);
    }
    assertEquals(agent.params, before);
    agent.close();
  } finally {
    console.warn = warn;
  }
  const [line, ...others] = lines.filter((it) => it.startsWith("Skipped"));
  assert(/^Skipped a step of K-FAC: .* is not finite$/.test(line));
  assertEquals(others, []);
});
