import { a2c, type A2CConfig } from "@bellman/a2c";
import { acktr } from "@bellman/acktr";
import { type Engine, paramsFromArrays, selectBackend } from "@bellman/compute";
import { isXlaInstalled } from "@bellman/compute/xla";
import { type TensorEnv, tensorVecEnv } from "@bellman/envs/tensor";
import type { ActorCritic } from "@bellman/policies";
import { sac } from "@bellman/sac";
import { makeVec } from "@bellman/envs";
import type { StateRecord } from "@bellman/files";
import { evaluate, train } from "@bellman/training";
import type { Space, StateTree } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { DeviceAgent, type DeviceAgentOptions } from "./device_agent.ts";

await selectBackend("cpu");

const HAS_XLA = isXlaInstalled();
const ENGINES = ["eager", "onnx", "xla"] as const;
/** Those that compile: what every machine has, and the one for loops. */
const COMPILED = ["onnx", "xla"] as const;

/** Settings of the original A2C, of a small network. */
const SMALL: Partial<A2CConfig> = {
  numSteps: 5,
  gaeLambda: 1,
  normalizeAdvantage: false,
  optimizer: "rmsprop_tf1",
  learningRate: 7e-4,
  hiddenSizes: [8],
  valueNetwork: "shared",
  objective: "shared",
};

type Options = Partial<DeviceAgentOptions<A2CConfig>>;

function agentOf(
  env: string | TensorEnv,
  { config, ...options }: Options = {},
): DeviceAgent<A2CConfig, ActorCritic> {
  return new DeviceAgent(a2c, tensorVecEnv(env), {
    numEnvs: 4,
    updatesPerCall: 3,
    seed: 1,
    engine: "onnx",
    ...options,
    config: { ...SMALL, ...config },
  });
}

function testEngines(
  name: string,
  test: (engine: Engine) => void | Promise<void>,
  engines: readonly Engine[] = ENGINES,
): void {
  for (const engine of engines) {
    Deno.test({
      name: `${name} ${engine === "xla" ? "[XLA]" : `(${engine})`}`,
      ignore: engine === "xla" && !HAS_XLA,
      fn: () => test(engine),
    });
  }
}

/** Numbers of a state, in order. */
function numbersOf(tree: StateTree): number[] {
  if (ArrayBuffer.isView(tree)) return [...tree as Float32Array];
  if (typeof tree === "number") return [tree];
  return tree === null ? [] : Object.values(tree).flatMap(numbersOf);
}

function assertClose(actual: number[], expected: number[], within: number) {
  assertEquals(actual.length, expected.length);
  expected.forEach((it, i) =>
    assert(
      Math.abs(actual[i] - it) <= within * Math.max(1, Math.abs(it)),
      `number ${i}: ${actual[i]}, expected ${it}`,
    )
  );
}

/** Settings of A2C that the loop implements differently. */
const FORMS: Readonly<Record<string, [string, Partial<A2CConfig>]>> = {
  "values of their own": ["CartPole-v1", {
    numSteps: 2,
    valueNetwork: "separate",
    normalizeAdvantage: true,
  }],
  "many steps": ["MountainCar-v0", { numSteps: 20, gaeLambda: 0.9 }],
  "box actions": ["Pendulum-v1", { numSteps: 1, bootstrapTruncated: false }],
  pictures: ["GridWorld-v0", { numSteps: 1 }],
};

for (const [name, [env, config]] of Object.entries(FORMS)) {
  Deno.test(`numbers are the same on all engines: ${name}`, () => {
    const engines = ENGINES.filter((it) => it !== "xla" || HAS_XLA);
    const [expected, ...others] = engines.map((engine) => {
      const agent = agentOf(env, {
        engine,
        config: { ...config, learningRate: 1e-3 },
      });
      const stats = [0, 1].map(() => {
        agent.advance();
        const { explained_variance: _, ...stats } = agent.update()!;
        return Object.values(stats);
      });
      const state = numbersOf(agent.save());
      agent.close();
      return { stats: stats.flat(), state };
    });
    for (const { stats, state } of others) {
      assertClose(stats, expected.stats, 1e-3);
      assertClose(state, expected.state, 1e-3);
    }
  });
}

testEngines("a restored agent goes on bit for bit", (engine) => {
  const options = { engine, numEnvs: 2, config: { numSteps: 3 } };
  const agent = agentOf("CartPole-v1", options);
  agent.advance();
  const saved = agent.save();
  const go = (it: typeof agent) => {
    const { episodes } = it.advance();
    return [episodes, it.update(), it.save()];
  };
  const expected = go(agent);
  const other = agentOf("CartPole-v1", { ...options, seed: 9 });
  other.advance();
  other.load(saved);
  assertEquals(go(other), expected);
  agent.close();
  other.close();
});

testEngines(
  "what is learned does not depend on where calls begin and end",
  (engine) => {
    const totalTimesteps = 4 * 5 * 9;
    /** Trains in calls of at most so many updates; each of another agent, if resumed. */
    const learned = (updatesPerCall: number, isResumed = false) => {
      const make = (seed: number) =>
        agentOf("CartPole-v1", {
          engine,
          updatesPerCall,
          totalTimesteps,
          seed,
        });
      let agent = make(1);
      while (agent.updates < 9) {
        if (isResumed) {
          const next = make(9);
          next.load(agent.save());
          agent.close();
          agent = next;
        }
        agent.advance();
      }
      const state = agent.save();
      agent.close();
      return state;
    };
    const whole = learned(9);
    for (const updatesPerCall of [1, 4]) {
      assertEquals(learned(updatesPerCall), whole, `${updatesPerCall}`);
    }
    assertEquals(learned(4, true), whole);
  },
);

testEngines("calls keep no tensors", (engine) => {
  const agent = agentOf("CartPole-v1", { engine });
  agent.advance();
  const before = tf.memory().numTensors;
  for (let i = 0; i < 3; i++) agent.advance();
  assertEquals(tf.memory().numTensors, before);
  agent.close();
});

const GAMMA = 0.8;

/** Four positions in a row; a step advances and has the reward 1. */
function chainOf(end: "terminated" | "truncated"): TensorEnv {
  return {
    id: "Chain-v0",
    observationSpace: { type: "discrete", n: 4 },
    actionSpace: { type: "discrete", n: 2 },
    maxEpisodeSteps: end === "truncated" ? 4 : undefined,
    startSize: 0,
    start: (uniform) => ({ place: tf.zeros([uniform.shape[1]!], "int32") }),
    step({ place }) {
      const next = tf.add(place, tf.scalar(1, "int32"));
      const isOver = tf.greaterEqual(next, tf.scalar(4, "int32"));
      return {
        // After the last place comes the first.
        state: { place: tf.mul(next, tf.cast(tf.logicalNot(isOver), "int32")) },
        rewards: tf.onesLike(tf.cast(next, "float32")),
        terminated: end === "terminated" ? isOver : tf.zerosLike(isOver),
      };
    },
    observe: ({ place }) => place,
  };
}

/** Values that an agent learns of the places. */
function learnedValues(
  env: TensorEnv,
  { engine, ...config }: Partial<A2CConfig> & { engine: Engine },
): number[] {
  const agent = agentOf(env, {
    engine,
    updatesPerCall: 200,
    config: {
      gamma: GAMMA,
      hiddenSizes: [16],
      optimizer: "adam",
      learningRate: 0.01,
      learningRateSchedule: "constant",
      ...config,
    },
  });
  for (let i = 0; i < 5; i++) agent.advance();
  const values = tf.tidy(() => {
    const params = paramsFromArrays(agent.params);
    const places = tf.tensor2d([[0], [1], [2], [3]], undefined, "int32");
    const encoded = agent.model.encode(places);
    return [...agent.model.apply(params, encoded).value.dataSync()];
  });
  agent.close();
  return values;
}

const endless = 1 / (1 - GAMMA);
const ending = [4, 3, 2, 1].map((n) => (1 - GAMMA ** n) / (1 - GAMMA));

testEngines("a truncated episode is valued as if it went on", (engine) => {
  for (const valueNetwork of ["shared", "separate"] as const) {
    const values = learnedValues(chainOf("truncated"), {
      valueNetwork,
      engine,
    });
    assertClose(values, [endless, endless, endless, endless], 0.1);
  }
}, COMPILED);

testEngines("a terminated episode has no value beyond its end", (engine) => {
  assertClose(learnedValues(chainOf("terminated"), { engine }), ending, 0.1);
}, COMPILED);

testEngines("a cut is an end where the settings say so", (engine) => {
  const config = { bootstrapTruncated: false, engine };
  assertClose(learnedValues(chainOf("truncated"), config), ending, 0.1);
}, COMPILED);

testEngines("episodes come back, truncated ones as such", (engine) => {
  const agent = agentOf(chainOf("truncated"), {
    engine,
    numEnvs: 2,
    updatesPerCall: 4,
  });
  const { episodes, steps } = agent.advance();
  assertEquals(steps, 4 * 5 * 2);
  const episode = { return: 4, length: 4, terminated: false };
  assertEquals(
    episodes,
    Array.from({ length: 10 }, (_, i) => ({ env: i % 2, ...episode })),
  );
  agent.close();
}, COMPILED);

Deno.test("a run ends with the updates that are left", async () => {
  const agent = agentOf("CartPole-v1", {
    totalTimesteps: 100,
    engine: "eager",
    config: { learningRate: 1e-3 },
  });
  const rates: number[] = [];
  const { step, updates } = await train(agent, undefined, {
    totalTimesteps: 100,
    callbacks: [{
      onUpdate: (_, { learning_rate }) => void rates.push(learning_rate),
    }],
  });
  assertEquals([step, updates], [100, 5]);
  // Of the third and of the last update.
  assertEquals(rates.map((it) => it.toFixed(5)), ["0.00041", "0.00001"]);
  agent.close();
});

Deno.test("a call has no more steps than are asked for", () => {
  const agent = agentOf("CartPole-v1", {
    updatesPerCall: 100,
    stepsPerCall: 199,
    engine: "eager",
  });
  assertEquals(agent.updatesPerCall, 9);
  agent.close();
});

Deno.test("what does not fit into a program is refused in one line", () => {
  const env = tensorVecEnv("Pendulum-v1"), numEnvs = 2;
  const cases: [() => unknown, string][] = [
    [
      () => new DeviceAgent(sac, env, { numEnvs }),
      "Cannot run SAC with loop: device: it does more than to collect",
    ],
    [
      () => new DeviceAgent(acktr, env, { numEnvs, config: { numSteps: 20 } }),
      "Cannot run ACKTR with loop: device: it does more than to collect",
    ],
    [
      () => agentOf("Pendulum-v1", { numEnv: 2 } as object),
      "Unknown option 'numEnv' of an agent of tensor environments: did you mean 'numEnvs'?",
    ],
    [
      () => agentOf("Pendulum-v1", { config: { network: "lstm" } }),
      "Cannot run A2C with loop: device: its network is recurrent, expected loop: host",
    ],
    [
      () => agentOf("Pendulum-v1", { config: { useSde: true } }),
      "Cannot run A2C with loop: device: its noise depends on the state",
    ],
    [
      () => {
        const { observationSpace } = env;
        const inParts = { type: "dict", spaces: { pole: observationSpace } };
        const seen = { ...env, observationSpace: inParts as Space };
        return new DeviceAgent(a2c, seen, { numEnvs });
      },
      "Cannot run A2C with loop: device: its observations have parts, expected loop: host",
    ],
    [
      () => agentOf("CartPole-v1", { engine: "eager" }).load({ steps: 1 }),
      "Cannot restore a loop of A2C from something else",
    ],
  ];
  for (const [call, message] of cases) assertThrows(call, TypeError, message);
  assertThrows(
    () => agentOf("CartPole-v1", { numEnvs: 0 }),
    RangeError,
    "Cannot run A2C with numEnvs = 0",
  );
});

Deno.test("a state that is partly wrong changes nothing", () => {
  const [agent, donor] = [1, 2].map((seed) =>
    agentOf("CartPole-v1", { engine: "eager", seed })
  );
  donor.advance();
  const before = agent.save(), state = donor.save() as StateRecord;
  const { policy, ...others } = (state.loop as StateRecord)
    .learned as StateRecord;
  const [first] = Object.keys(policy as StateRecord);
  const cut = { ...policy as StateRecord, [first]: new Float32Array() };
  const learned = { policy: cut, ...others };
  const wrong: Record<string, StateTree>[] = [
    { steps: "7" },
    { updates: -1 },
    { loop: { ...state.loop as StateRecord, learned } },
  ];
  for (const part of wrong) {
    assertThrows(() => agent.load({ ...state, ...part }));
    assertEquals(agent.save(), before);
  }
  agent.load(state);
  assertEquals(agent.save(), state);
  agent.close();
  donor.close();
});

/** Trains A2C on CartPole; returns the evaluation of its last policy. */
async function learned(engine: Engine, updates: number): Promise<number> {
  const totalTimesteps = 8 * 8 * updates;
  const agent = agentOf("CartPole-v1", {
    numEnvs: 8,
    updatesPerCall: 50,
    totalTimesteps,
    engine,
    config: {
      numSteps: 8,
      hiddenSizes: [16],
      gamma: 0.98,
      optimizer: "adam",
      learningRate: 0.01,
      learningRateSchedule: "constant",
    },
  });
  await train(agent, undefined, { totalTimesteps });
  const env = makeVec("CartPole-v1", { numEnvs: 10 });
  const actor = agent.policy({ deterministic: true, numEnvs: 10, seed: 2 });
  const { meanReturn } = await evaluate(actor, env, { episodes: 10, seed: 3 });
  agent.close();
  return meanReturn;
}

testEngines("A2C learns CartPole in one program", async (engine) => {
  const mean = await learned(engine, 800);
  assert(mean > 150, String(mean));
}, COMPILED);
