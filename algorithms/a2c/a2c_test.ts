import type { AgentOptions } from "@bellman/agent";
import { paramsFromArrays } from "@bellman/compute";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  type ACTIONS,
  MadeUpEnv,
  spacesOf,
} from "../agent/testdata/made_up_env.ts";
import { A2C } from "./a2c.ts";
import { type A2CConfig, defaultA2CConfig } from "./config.ts";

await tf.setBackend("cpu");

const SMALL: Partial<A2CConfig> = {
  hiddenSizes: [8],
  lstmSize: 4,
  numSteps: 4,
  gaeLambda: 1,
  normalizeAdvantage: false,
  optimizer: "rmsprop_tf1",
  learningRate: 7e-4,
  valueNetwork: "shared",
  objective: "shared",
};

function agentOf(
  config: Partial<A2CConfig> = {},
  { actions = "discrete", numEnvs = 3, ...options }:
    & { actions?: keyof typeof ACTIONS; numEnvs?: number }
    & Omit<AgentOptions<A2CConfig>, "config"> = {},
): A2C {
  return new A2C(spacesOf(actions, numEnvs), {
    config: { ...SMALL, ...config },
    seed: 1,
    totalTimesteps: 10_000,
    ...options,
  });
}

const observation = (x: number) => Float32Array.of(x, -x, 0.5);

/** Takes a step of one environment that leads from an observation to another. */
function step(
  agent: A2C,
  from: number,
  to: number,
  { reward = 0, truncated = 0, next = to } = {},
): void {
  agent.act(observation(from));
  agent.observe({
    observations: observation(next),
    finalObservations: observation(to),
    rewards: Float64Array.of(reward),
    terminated: new Uint8Array(1),
    truncated: Uint8Array.of(truncated),
  });
}

/** Values of observations in a row, of one episode. */
function valuesOf({ model, params }: A2C, ...seen: number[]): Float32Array {
  const rows = seen.length;
  return model.apply(
    paramsFromArrays(params),
    tf.tensor2d(seen.flatMap((x) => [...observation(x)]), [rows, 3]),
    model.stateSize === 0 ? undefined : {
      state: tf.zeros([1, model.stateSize]),
      masks: tf.zeros([rows]),
    },
  ).value.dataSync<"float32">();
}

/** Mean square of errors. */
function lossOf(returns: number[], values: Float32Array): number {
  return returns.reduce((sum, it, i) => sum + (it - values[i]) ** 2, 0) /
    returns.length;
}

Deno.test("the learning rate is that of the last of an update's steps", () => {
  const agent = agentOf({ numSteps: 1 });
  const { updates } = new MadeUpEnv(spacesOf("discrete", 3)).play(agent, 6);
  // The sixth update of three samples: counts 15, 16 and, the last, 17.
  const rate = 7e-4 * (1 - 17 / 10_000);
  assertAlmostEquals(updates[5].learning_rate, rate, 1e-12);
});

Deno.test("box actions are clipped for the environment only", () => {
  const agent = agentOf({ initialLogStd: 2 }, { actions: "box" });
  const env = new MadeUpEnv(spacesOf("box", 3));
  const actions = agent.act(env.observations);
  assert(actions.some((it) => it === 0.5 || it === -0.5));
  agent.observe(env.step());
  const { experience } = agent.save() as {
    // deno-lint-ignore no-explicit-any -- a look inside of a saved buffer
    experience: any;
  };
  const found = JSON.stringify(experience).match(/-?\d+\.\d+/g)!.map(Number);
  assert(found.some((it) => Math.abs(it) > 0.5 + 1e-6));
});

Deno.test("a recurrent value of a last observation uses the state of then", () => {
  const agent = agentOf(
    { network: "lstm", numSteps: 3, gamma: 0.5 },
    { numEnvs: 1 },
  );
  step(agent, 0.1, 0.2);
  step(agent, 0.2, 0.3);
  step(agent, 0.3, 0.4, { truncated: 1, next: 0.9 });
  const values = valuesOf(agent, 0.1, 0.2, 0.3, 0.4), last = values[3];
  // The rewards are 0, so the value loss shows the bootstrap's value.
  const loss = lossOf([0.125 * last, 0.25 * last, 0.5 * last], values);
  assertAlmostEquals(agent.update()!.value_loss, loss, 1e-6);
});

Deno.test("bootstrapTruncated: false takes a cut for an end, as the original", () => {
  for (const bootstrapTruncated of [true, false]) {
    const agent = agentOf({ bootstrapTruncated, numSteps: 1 }, { numEnvs: 1 });
    const values = valuesOf(agent, 1);
    step(agent, 1, 1, { reward: 1, truncated: 1 });
    const { gamma } = defaultA2CConfig;
    const expected = 1 + (bootstrapTruncated ? gamma * values[0] : 0);
    const { value_loss: found } = agent.update()!;
    assertAlmostEquals(found, lossOf([expected], values), 1e-5);
  }
});

Deno.test("values of a separate network are those of the acting parameters", () => {
  const agent = agentOf(
    { valueNetwork: "separate", numSteps: 2, gamma: 0.5 },
    { numEnvs: 1 },
  );
  const values = valuesOf(agent, 1, 2, 3);
  step(agent, 1, 2, { reward: 1 });
  step(agent, 2, 3, { reward: 2 });
  const second = 2 + 0.5 * values[2];
  const loss = lossOf([1 + 0.5 * second, second], values);
  assertAlmostEquals(agent.update()!.value_loss, loss, 1e-5);
});

Deno.test("state-dependent noise is kept for sdeSampleFrequency steps", () => {
  const config = { useSde: true, sdeSampleFrequency: 2 };
  const agent = agentOf(config, { actions: "box" });
  const env = new MadeUpEnv(spacesOf("box", 3)), still = env.observations;
  const chosen = [0, 1, 2].map(() => {
    const actions = [...agent.act(still)];
    agent.observe(env.step());
    return actions;
  });
  assertEquals(chosen[0], chosen[1]);
  assert(String(chosen[1]) !== String(chosen[2]));
});

Deno.test("advantages are normalised on request", () => {
  // With all advantages scaled the entropy-free policy loss no longer depends
  // on the size of the rewards.
  for (const scale of [1, 100]) {
    const agent = agentOf({ normalizeAdvantage: true });
    const env = new MadeUpEnv(spacesOf("discrete", 3));
    for (let i = 0; i < 4; i++) {
      const step = env.step(agent.act(env.observations));
      const rewards = step.rewards.map((it) => scale * it);
      agent.observe({ ...step, rewards });
    }
    assert(Math.abs(agent.update()!.policy_loss) < 1);
  }
});

Deno.test("a complete rollout is learned from before the next step", () => {
  const agent = agentOf({ numSteps: 1 });
  const env = new MadeUpEnv(spacesOf("discrete", 3));
  agent.act(env.observations);
  agent.observe(env.step());
  agent.act(env.observations);
  assertThrows(() => agent.observe(env.step()), Error, "call update()");
});
