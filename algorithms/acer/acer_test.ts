import type { AgentOptions } from "@bellman/agent";
import { paramsFromArrays } from "@bellman/compute";
import type { Space } from "@bellman/types";
import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import type { QActorCritic } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import {
  MadeUpEnv,
  spacesOf,
  THREE_NUMBERS,
} from "../agent/testdata/made_up_env.ts";
import { ACER } from "./acer.ts";
import type { AcerConfig } from "./config.ts";

await tf.setBackend("cpu");

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
  { actionSpace, numEnvs = 2, ...options }:
    & { actionSpace?: Space; numEnvs?: number }
    & Omit<AgentOptions<AcerConfig>, "config"> = {},
): ACER {
  const spaces = spacesOf("discrete", numEnvs);
  return new ACER({ ...spaces, ...(actionSpace && { actionSpace }) }, {
    config: { ...SMALL, ...config },
    seed: 1,
    totalTimesteps: 10_000,
    ...options,
  });
}

/** Plays the first steps. */
function run(agent: ACER, steps: number) {
  return new MadeUpEnv(spacesOf("discrete")).play(agent, steps);
}

/** Observations of one environment. */
function observationsAt(time: number): Float32Array {
  return new MadeUpEnv(spacesOf("discrete", 1))
    .observationsAt(time) as Float32Array;
}

Deno.test("without replay the first update is the same, and the only one", () => {
  const [with_, without] = [SMALL.replayRatio, 0].map((replayRatio) => {
    const agent = agentOf({ replayRatio, replayStart: 8 });
    const seen = run(agent, 4);
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
  const [first, second] = run(agent, 8).updates;
  agent.close();
  assertEquals(first.learning_rate, 7e-4);
  assertAlmostEquals(second.learning_rate, 7e-4 * (1 - 8 / 10_000), 1e-12);
});

Deno.test("a cut episode is worth its last observation's value, with the state of then", () => {
  for (const network of ["mlp", "lstm"] as const) {
    for (const bootstrapTruncated of [true, false]) {
      const config = { network, bootstrapTruncated, numSteps: 1, gamma: 0.5 };
      const agent = agentOf({ ...config, replayRatio: 0 }, { numEnvs: 1 });
      const [first, last] = [observationsAt(1), observationsAt(2)];
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
        observations: observationsAt(9),
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
  const seen = observationsAt(1);
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
    [THREE_NUMBERS, [[0.5, -0.5, 1], [0, 0.25, -1]]],
    [{ type: "multiDiscrete", nvec: [2, 3] }, [[0, 2], [1, 0], [1, 1]]],
  ];
  const all = (["mlp", "lstm"] as const).flatMap((network) =>
    cases.map((it) => [network, ...it] as const)
  );
  for (const [network, actionSpace, actions] of all) {
    const agent = agentOf({ network }, { actionSpace });
    const seen = observationsAt(1);
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

Deno.test("without replay no room for it is needed", () => {
  agentOf({ replayRatio: 0, bufferSize: 3 }).close();
});
