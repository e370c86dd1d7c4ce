import { Agent } from "@bellman/agent";
import { RandomStream } from "@bellman/compute";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { MadeUpEnv, spacesOf } from "../agent/testdata/made_up_env.ts";
import { defaultDqnConfig, type DqnConfig } from "./config.ts";
import { DQN, dqn } from "./dqn.ts";
import { buildContext } from "../../tests/testdata/build_context.ts";

await tf.setBackend("cpu");

const SPACES = spacesOf("discrete");
const SMALL: Partial<DqnConfig> = {
  hiddenSizes: [8],
  batchSize: 4,
  bufferSize: 200,
  learningStarts: 4,
  targetInterval: 3,
  tau: 1,
};
const NOISY = { exploration: "noisy", initialExploration: "policy" } as const;

Deno.test("actions that are not discrete are refused in one line", () => {
  for (
    const [kind, named] of [["box", "box"], ["multiDiscrete", "multi-discrete"]]
  ) {
    assertThrows(
      () => new DQN(spacesOf(kind as "box")),
      TypeError,
      `Cannot run DQN with ${named} actions: expected discrete actions; SAC, TD3 and PPO take box actions, PPO several choices at once`,
    );
  }
});

Deno.test("categorical values need a range", () => {
  for (const valueRange of [null, [1, 1], [2, -2]]) {
    assertThrows(
      () => new DQN(SPACES, { config: { values: "categorical", valueRange } }),
      RangeError,
      "expected [low, high], the least and the largest return",
    );
  }
});

Deno.test("each environment draws for itself whether it explores", () => {
  const numEnvs = 4;
  const { explore, inputs } = dqn.build(
    {
      ...defaultDqnConfig,
      initialExploration: "policy",
      initialEpsilon: 0.5,
      finalEpsilon: 0.5,
    },
    buildContext({ ...SPACES, numEnvs }),
  );
  const random = new RandomStream(2);
  const progress = { steps: 0, updates: 0, fraction: 0 };
  const POLICY = 77;
  const seen = Array.from({ length: 200 }, () =>
    [...explore!.act({
      progress,
      random,
      sample: () => new Int32Array(numEnvs).fill(POLICY),
    })].filter((it) => it !== POLICY).length);
  const counts = [0, 1, 2, 3, 4].map((count) =>
    seen.filter((it) => it === count).length / seen.length
  );
  // Binomial: together or not at all would be 1/2 at both ends.
  [1, 4, 6, 4, 1].forEach((it, i) =>
    assertAlmostEquals(counts[i], it / 16, 0.1)
  );
  assertEquals(
    inputs(progress, () => ({ data: [], shape: [] } as never)).epsilon,
    0.5,
  );
});

Deno.test("by default the learning rate falls to 0 over the run", () => {
  const { inputs } = dqn.build(
    defaultDqnConfig,
    buildContext({ ...SPACES, numEnvs: 1 }),
  );
  const draw = () => ({ data: new Float32Array(), shape: [] });
  const { learningRate: first } = defaultDqnConfig;
  for (const steps of [0, 50, 99, 100]) {
    const { learningRate } = inputs({ steps, updates: 0, fraction: 0 }, draw);
    assertAlmostEquals(learningRate as number, first * (1 - steps / 100));
  }
});

Deno.test("noise explores, evaluations and files take its means", () => {
  const agent = new DQN(SPACES, {
    config: { ...SMALL, ...NOISY, sigma0: 30, dueling: true },
    seed: 1,
  });
  const observations = new Float32Array(
    [0.3, -0.2, 0.1, 0.3, -0.2, 0.1, 0.3, -0.2, 0.1].slice(
      0,
      3 * SPACES.numEnvs,
    ),
  );
  const greedy = agent.policy({ deterministic: true });
  const acted = Array.from({ length: 30 }, () => {
    const actions = [...agent.act(observations)];
    agent.observe({
      observations,
      rewards: new Float64Array(SPACES.numEnvs),
      terminated: new Uint8Array(SPACES.numEnvs),
      truncated: new Uint8Array(SPACES.numEnvs),
      finalObservations: observations,
    });
    return actions;
  });
  // Another draw at each step, and for each environment.
  assert(new Set(acted.map((it) => it[0])).size > 1);
  assert(acted.some((it) => new Set(it).size > 1));
  const best = [...greedy.act(observations)];
  for (let i = 0; i < 5; i++) {
    assertEquals([...greedy.act(observations)], best);
  }
  const values = [...agent.qValues(observations.subarray(0, 3))];
  const { start = 0 } = SPACES.actionSpace as { start?: number };
  assertEquals(best[0] - start, values.indexOf(Math.max(...values)));
  assertEquals(agent.update()?.epsilon, 0);
  agent.close();
});

Deno.test("the target network follows after targetInterval updates", () => {
  const agent = new DQN(SPACES, { config: SMALL, seed: 1 });
  const targets: string[] = [], online: string[] = [];
  const of = (part: string) => {
    const { learned } = agent.save() as {
      learned: Record<string, Record<string, { data: Float32Array }>>;
    };
    return learned[part]["head/bias"].data.join();
  };
  const env = new MadeUpEnv(SPACES);
  for (let update = 0; update < 7;) {
    update += env.play(agent, 1).updates.length;
    targets.push(of("target"));
    online.push(of("policy"));
  }
  const copies = targets.flatMap((it, i) => it === online[i] ? [i] : [])
    .map((i) => targets.length - i);
  // Of 7 updates the third and the sixth copy.
  assert(copies.includes(2) && copies.includes(5), `${copies}`);
  assertNotEquals(online.at(-1), targets.at(-1));
  agent.close();
});

Deno.test("clipped mass is told, and warned of once", () => {
  const lines: string[] = [];
  const agent = new Agent(dqn, SPACES, {
    config: { ...SMALL, values: "categorical", valueRange: [100, 200] },
    seed: 1,
    onNotice: (line) => lines.push(line),
  });
  const { updates } = new MadeUpEnv(SPACES).play(agent, 20);
  assert(updates.every((it) => it.clipped_mass > 0.01));
  agent.close();
  assertEquals(lines.length, 1);
  assert(
    /^DQN clips [\d.]+ % of the target mass to valueRange: choose a wider range$/
      .test(lines[0]),
    lines[0],
  );
});
