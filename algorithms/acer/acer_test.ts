import type { AgentOptions } from "@bellman/agent";
import { paramsFromArrays } from "@bellman/compute";
import type { Space } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import type { QActorCritic } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import {
  observationsAt,
  takeSteps,
} from "../../tests/testdata/made_up_steps.ts";
import { ACER } from "./acer.ts";
import type { AcerConfig } from "./config.ts";

await tf.setBackend("cpu");

const OBSERVATION: Space = {
  type: "box",
  shape: [3],
  low: -1,
  high: 1,
  dtype: "float32",
};
const DISCRETE: Space = { type: "discrete", n: 3 };
const NUM_ENVS = 2;
const SMALL: Partial<AcerConfig> = {
  hiddenSizes: [8],
  lstmSize: 4,
  numSteps: 4,
  bufferSize: 16,
  replayStart: 4,
  replayRatio: 1,
  learningRate: 7e-4,
  qNetwork: "shared",
};

function agentOf(
  config: Partial<AcerConfig> = {},
  { actionSpace = DISCRETE, numEnvs = NUM_ENVS, ...options }:
    & { actionSpace?: Space; numEnvs?: number }
    & Omit<AgentOptions<AcerConfig>, "config"> = {},
): ACER {
  return new ACER({ observationSpace: OBSERVATION, actionSpace, numEnvs }, {
    config: { ...SMALL, ...config },
    seed: 1,
    totalTimesteps: 10_000,
    ...options,
  });
}

/** Takes steps and gives back all that was decided and learned. */
function run(agent: ACER, from: number, count: number): unknown[] {
  return takeSteps(agent, { from, count, numEnvs: NUM_ENVS });
}

const KINDS: Record<string, [Partial<AcerConfig>, Space?]> = {
  "mlp": [{}],
  "actions from 5": [{}, { type: "discrete", n: 2, start: 5 }],
  "lstm": [{ network: "lstm" }],
  "lnlstm with two trunks": [{ network: "lnlstm", qNetwork: "separate" }],
  "burn-in and zeros": [
    { network: "lstm", burnIn: 2, initialState: "zeros" },
  ],
  "no trust region, no clipping, Adam": [
    { trustRegion: false, maxGradNorm: null, optimizer: "adam" },
  ],
  "no replay": [{ replayRatio: 0 }],
  "box actions": [{ advantageSamples: 3 }, OBSERVATION],
  "box actions with lstm": [{ network: "lstm", burnIn: 1 }, OBSERVATION],
  "several discrete actions with lnlstm and two trunks": [
    { network: "lnlstm", qNetwork: "separate", replay: "proportional" },
    { type: "multiDiscrete", nvec: [2, 3] },
  ],
  "several discrete actions": [{}, { type: "multiDiscrete", nvec: [2, 3] }],
  "flags": [{ replay: "rank" }, { type: "multiBinary", n: 2 }],
  "state-dependent noise": [
    { useSde: true, sdeSampleFrequency: 3 },
    OBSERVATION,
  ],
  "rows for three cuts": [{ truncationsPerSegment: 3 }, OBSERVATION],
  "by priorities": [{ replay: "proportional", replayRatio: 3 }],
  "by ranks, box actions": [{ replay: "rank", replayRatio: 3 }, OBSERVATION],
};

for (const [name, [config, actionSpace]] of Object.entries(KINDS)) {
  Deno.test(`a restored agent goes on bit for bit: ${name}`, () => {
    const original = agentOf(config, { actionSpace });
    run(original, 0, 22); // stops in the middle of a segment
    const state = original.save();
    const wanted = run(original, 22, 21);
    assert(original.updates > (config.replayRatio === 0 ? 9 : 11));

    const other = agentOf(config, { actionSpace, seed: 99 });
    run(other, 3, 7);
    other.load(state);
    assertEquals(run(other, 22, 21), wanted);
    assertEquals(other.save(), original.save());
    original.close();
    other.close();
  });
}

Deno.test("an agent with segments in a file goes on from its last save", async () => {
  const folder = await Deno.makeTempDir({ prefix: "bellman-acer-" });
  const open = (options = {}) => {
    const agent = agentOf({ replayStorage: "file" }, options);
    agent.openReplay(`${folder}/replay.rows`);
    return agent;
  };
  const memory = agentOf(), agent = open();
  assertEquals(run(agent, 0, 22), run(memory, 0, 22));
  const state = agent.save();
  run(agent, 22, 9);
  agent.close();
  const other = open({ seed: 99 });
  other.load(state);
  assertEquals(run(other, 22, 21), run(memory, 22, 21));
  other.close();
  assertThrows(
    () => memory.openReplay(`${folder}/other.rows`),
    TypeError,
    "Cannot keep the steps of ACER in a file: expected replayStorage: file",
  );
  memory.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("the same seed gives the same run, another seed another one", () => {
  const [first, same, other] = [1, 1, 2].map((seed) => {
    const agent = agentOf({}, { seed });
    const seen = run(agent, 0, 12);
    agent.close();
    return JSON.stringify(seen);
  });
  assertEquals(same, first);
  assert(other !== first);
});

Deno.test("without replay the first update is the same, and the only one", () => {
  const [with_, without] = [SMALL.replayRatio, 0].map((replayRatio) => {
    const agent = agentOf({ replayRatio, replayStart: 8 });
    const seen = run(agent, 0, 4);
    const { updates, params } = agent;
    const { experience } = agent.save() as Record<string, { replay: unknown }>;
    agent.close();
    return { seen, updates, params, replays: experience.replay !== null };
  });
  assertEquals(with_.seen, without.seen);
  assertEquals(with_.params, without.params);
  assertEquals([with_.updates, without.updates], [1, 1]);
  assertEquals([with_.replays, without.replays], [true, false]);
});

Deno.test("the learning rate falls with the steps before the segment", () => {
  const agent = agentOf({ replayRatio: 0 });
  const [first, second] = run(agent, 0, 8).filter((it, i) =>
    i % 2 === 1 && it !== undefined
  ) as { learning_rate: number }[];
  agent.close();
  assertEquals(first.learning_rate, 7e-4);
  assertAlmostEquals(second.learning_rate, 7e-4 * (1 - 8 / 10_000), 1e-12);
});

Deno.test("a cut episode is worth its last observation's value, with the state of then", () => {
  for (const network of ["mlp", "lstm"] as const) {
    for (const bootstrapTruncated of [true, false]) {
      const config = { network, bootstrapTruncated, numSteps: 1, gamma: 0.5 };
      const agent = agentOf({ ...config, replayRatio: 0 }, { numEnvs: 1 });
      const [first, last] = [observationsAt(1, 1), observationsAt(2, 1)];
      const { policy, q } = (agent.model as QActorCritic).apply(
        paramsFromArrays(agent.params),
        tf.tensor2d([...first, ...last], [2, 3]),
        agent.model.stateSize > 0
          ? {
            state: tf.zeros([1, agent.model.stateSize]),
            masks: tf.zeros([2]),
          }
          : undefined,
      );
      const values = tf.sum(tf.mul(tf.softmax(policy), q), 1).dataSync();
      const [action] = agent.act(first);
      agent.observe({
        observations: observationsAt(9, 1),
        finalObservations: last,
        rewards: Float64Array.of(1),
        terminated: new Uint8Array(1),
        truncated: Uint8Array.of(1),
      });
      const target = 1 + (bootstrapTruncated ? 0.5 * values[1] : 0);
      const error = target - q.dataSync()[action];
      assertAlmostEquals(agent.update()!.q_loss, error ** 2 / 2, 1e-5);
      agent.close();
    }
  }
});

Deno.test("values of all actions are those of the network", () => {
  const agent = agentOf();
  const seen = observationsAt(1, 1);
  const { q } = (agent.model as QActorCritic).apply(
    paramsFromArrays(agent.params),
    tf.tensor2d(seen, [1, 3]),
  );
  const found = agent.qValues(seen);
  q.dataSync().forEach((it, i) => assertAlmostEquals(found[i], it, 1e-6));
  agent.close();
});

Deno.test("values of given actions are V and their advantages", () => {
  const cases: [Space, number[][]][] = [
    [OBSERVATION, [[0.5, -0.5, 1], [0, 0.25, -1]]],
    [{ type: "multiDiscrete", nvec: [2, 3] }, [[0, 2], [1, 0], [1, 1]]],
  ];
  const all = (["mlp", "lstm"] as const).flatMap((network) =>
    cases.map((it) => [network, ...it] as const)
  );
  for (const [network, actionSpace, actions] of all) {
    const agent = agentOf({ network }, { actionSpace });
    const seen = observationsAt(1, 1);
    const found = agent.qValues(seen, actions.flat());
    assertEquals(found.length, actions.length);
    assertEquals(new Set(found).size, actions.length);
    actions.forEach((action, i) =>
      assertAlmostEquals(agent.qValues(seen, action)[0], found[i], 1e-5)
    );
    assertThrows(
      () => agent.qValues(seen),
      TypeError,
      "Cannot estimate values of no actions: expected",
    );
    agent.close();
  }
});

for (const engine of ["onnx", "eager"] as const) {
  Deno.test(`updates keep the number of tensors, ${engine}`, () => {
    const first = tf.memory().numTensors;
    const agent = agentOf({ network: "lstm" }, { engine });
    run(agent, 0, 8);
    const before = tf.memory().numTensors;
    run(agent, 8, 40);
    assertEquals(tf.memory().numTensors, before);
    agent.close();
    assertEquals(tf.memory().numTensors, first);
  });
}

Deno.test("impossible settings are one clear line", () => {
  const refused = (
    config: Partial<AcerConfig>,
    message: string,
    actionSpace?: Space,
  ) =>
    assertThrows(
      () => agentOf(config, { actionSpace }),
      Error,
      `Cannot run ACER with ${message}`,
    );
  refused(
    { replayStart: 17 },
    "replayStart = 17: expected at most bufferSize, 16",
  );
  refused(
    { bufferSize: 18 },
    "bufferSize = 18: expected a multiple of numSteps, 4",
  );
  refused(
    { network: "lstm", burnIn: 4 },
    "burnIn = 4: expected less than numSteps, 4",
  );
  refused(
    { burnIn: 2 },
    "burnIn = 2 and network: auto: expected a recurrent network, as lstm",
  );
  refused(
    { useSde: true },
    "useSde and discrete actions: expected box actions",
  );
  refused({ importanceClip: 0 }, "importanceClip = 0: expected a number above");
  refused({ delta: -1 }, "delta = -1: expected a number of at least 0");
  assertThrows(
    () => agentOf({}, { actionSpace: { type: "tuple", spaces: [DISCRETE] } }),
    TypeError,
    "Cannot choose a distribution for tuple actions",
  );
  agentOf({ replayRatio: 0, bufferSize: 3 }).close(); // nothing is kept
});
