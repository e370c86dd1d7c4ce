/** Steps until agents that learn from replay make their first update. */
import { ACER } from "@bellman/acer";
import { selectBackend } from "@bellman/compute";
import { DQN } from "@bellman/dqn";
import { SAC } from "@bellman/sac";
import { TD3 } from "@bellman/td3";
import type { Space } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";

await selectBackend("cpu");

const box: Space = {
  type: "box",
  shape: [2],
  low: -1,
  high: 1,
  dtype: "float32",
};
const discrete: Space = { type: "discrete", n: 2 };
const SMALL = { hiddenSizes: [4], batchSize: 4, bufferSize: 100 };

/** Spaces of an agent, and its settings. */
interface Case {
  actionSpace?: Space;
  numEnvs: number;
  stackedFrames?: number;
  config: object;
}

/** Counts the steps until an agent's first update. */
function stepsUntilUpdate(
  Agent: typeof DQN | typeof SAC | typeof TD3,
  { config, actionSpace = discrete, ...spaces }: Case,
): number {
  const options = { config: { ...SMALL, ...config }, engine: "eager" };
  const agent = new Agent(
    { observationSpace: box, actionSpace, ...spaces },
    options as never,
  );
  const { numEnvs } = spaces, flags = new Uint8Array(numEnvs);
  const observations = new Float32Array(2 * numEnvs);
  let steps = 0;
  for (; agent.updates === 0 && steps < 1000; steps += numEnvs) {
    agent.act(observations);
    agent.observe({
      observations,
      finalObservations: observations,
      rewards: new Float64Array(numEnvs),
      terminated: flags,
      truncated: flags,
    });
    agent.update();
  }
  agent.close();
  return steps;
}

Deno.test("the first update comes with the last of so many steps, also where the buffer cannot hold as many", () => {
  for (const numEnvs of [1, 3, 8]) {
    for (const learningStarts of [8, 97, 100]) {
      const config = { learningStarts, nSteps: 5 };
      const wanted = Math.ceil(learningStarts / numEnvs) * numEnvs;
      const of = { numEnvs, config };
      assertEquals(stepsUntilUpdate(DQN, of), wanted);
      assertEquals(stepsUntilUpdate(DQN, { ...of, stackedFrames: 2 }), wanted);
      assertEquals(stepsUntilUpdate(TD3, { ...of, actionSpace: box }), wanted);
      assertEquals(stepsUntilUpdate(SAC, { ...of, actionSpace: box }), wanted);
    }
    // Its own default is what the buffer holds.
    const wanted = Math.ceil(100 / numEnvs) * numEnvs;
    assertEquals(stepsUntilUpdate(SAC, { numEnvs, config: {} }), wanted);
  }
});

Deno.test("a start that cannot be reached is refused, defaults included", () => {
  const dqn = (config: object, more: object = {}) => () =>
    stepsUntilUpdate(DQN, { numEnvs: 2, config, ...more });
  const refused = (act: () => unknown, line: string) =>
    assertThrows(act, RangeError, line);
  refused(
    dqn({}),
    "Cannot run DQN with learningStarts = 1000: expected at most bufferSize, 100",
  );
  refused(
    dqn({ bufferSize: 3, learningStarts: 2 }, { stackedFrames: 2 }),
    "Cannot run DQN with bufferSize = 3: expected room for the 2 frames of a stack of 2 environments",
  );
  refused(
    () =>
      new ACER(
        { observationSpace: box, actionSpace: discrete, numEnvs: 2 },
        { config: { bufferSize: 100 } },
      ),
    "Cannot run ACER with replayStart = 500: expected at most bufferSize, 100",
  );
  assertEquals(
    dqn({ bufferSize: 4, learningStarts: 4 }, { stackedFrames: 2 })(),
    4,
  );
});
