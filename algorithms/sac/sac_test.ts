import type { AgentSpaces } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import type { StateTree, Statistics, VecStep } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import { GivenScale } from "../agent/testdata/given_scale.ts";
import { FRAMES, MadeUpEnv, spacesOf } from "../agent/testdata/made_up_env.ts";
import { defaultSacConfig, type SacConfig } from "./config.ts";
import { SAC, sac, type SacOptions } from "./sac.ts";

await selectBackend("cpu");

const BOX = spacesOf("box"), DISCRETE = spacesOf("discrete");
const SMALL: Partial<SacConfig> = {
  hiddenSizes: [8, 8],
  batchSize: 8,
  bufferSize: 60,
  learningStarts: 8,
};

function agentOf(
  config: Partial<SacConfig> = {},
  spaces: AgentSpaces = BOX,
  options: SacOptions = {},
): SAC {
  const engine = "eager", all = { ...SMALL, ...config };
  return new SAC(spaces, { seed: 3, engine, ...options, config: all });
}

/** Plays the first steps, and gives back the statistics of the updates. */
function play(agent: SAC, steps: number, spaces = BOX): Statistics[] {
  return new MadeUpEnv(spaces).play(agent, steps).updates;
}

Deno.test("the form of log-probabilities reaches the update", () => {
  const [exact, epsilon] = (["exact", "epsilon"] as const).map((form) => {
    const agent = agentOf({ squashCorrection: form });
    play(agent, 14);
    return (agent.save() as { learned: { critics: StateTree } }).learned
      .critics;
  });
  assertNotEquals(exact, epsilon);
});

Deno.test("the temperature starts at 1, lower for discrete actions, or as told", () => {
  const startOf = (spaces: AgentSpaces, config: Partial<SacConfig>) => {
    const agent = agentOf(config, spaces);
    const [first] = play(agent, 14, spaces);
    agent.close();
    return first.temperature;
  };
  assertAlmostEquals(startOf(BOX, {}), 1, 1e-6);
  assertAlmostEquals(startOf(DISCRETE, {}), 0.02, 1e-6);
  for (const spaces of [BOX, DISCRETE]) {
    const told = startOf(spaces, { initialTemperature: 0.5 });
    assertAlmostEquals(told, 0.5, 1e-6);
  }
});

Deno.test("it learns when it is time to", () => {
  const count = (config: Partial<SacConfig>, steps: number) => {
    const agent = agentOf(config);
    const told = play(agent, steps).length;
    const { updates } = agent;
    agent.close();
    return [told, updates];
  };
  // Two copies: 8 transitions are there after 4 steps.
  assertEquals(count({}, 3), [0, 0]);
  assertEquals(count({}, 6), [3, 3]);
  assertEquals(count({ gradientSteps: 5 }, 6), [3, 15]);
  assertEquals(count({ trainFrequency: 2 }, 6), [2, 2]);
  assertEquals(count({ trainFrequency: 3, gradientSteps: -1 }, 6), [1, 6]);
});

Deno.test("rewards are scaled by a number or by a function of the iteration", () => {
  const asked: number[] = [];
  const run = (rewardScale?: (at: number) => number, scale = 1) => {
    const agent = agentOf({ rewardScale: scale }, BOX, { rewardScale });
    const updates = play(agent, 8);
    agent.close();
    return updates;
  };
  const byFunction = run((iteration) => {
    asked.push(iteration);
    return 3;
  });
  assertEquals([...new Set(asked)], [0, 1, 2, 3, 4]);
  assertEquals(byFunction, run(undefined, 3));
  assertThrows(() => run(() => NaN), RangeError, "NaN");
});

Deno.test("without its transitions, a saved agent collects new ones", () => {
  const [first, second] = [0, 1].map(() => agentOf({ saveReplay: false }));
  play(first, 10);
  second.load(first.save());
  assertEquals([second.replaySize, second.updates], [0, first.updates]);
  assertEquals(play(second, 3).length, 0);
  assertEquals(play(second, 3).length, 3);
  first.close();
  second.close();
});

Deno.test("observations that are no stacks are refused", () => {
  for (const stackedFrames of [2, 1.5]) {
    assertThrows(
      () => agentOf({}, { ...BOX, stackedFrames }),
      RangeError,
      stackedFrames === 2 ? "share 2 frames" : "stackedFrames = 1.5",
    );
  }
  const numbers = { ...BOX, stackedFrames: 3 };
  const agent = agentOf({}, numbers);
  assertThrows(
    () => play(agent, 1),
    RangeError,
    "Cannot keep observations as stacks of 3 frames: those of copy 0",
  );
  agent.close();
  // Frames that are padded by zeros begin otherwise than they are put together.
  const padded = agentOf({ network: "cnn_small" }, FRAMES);
  const observations = new Uint8Array(2 * 20 * 20 * 2)
    .map((_, i) => i % 2 === 0 ? 0 : 7);
  padded.act(observations);
  assertThrows(
    () =>
      padded.observe({
        observations,
        finalObservations: observations,
        rewards: new Float64Array(2),
        terminated: Uint8Array.of(1, 1),
        truncated: new Uint8Array(2),
      }),
    RangeError,
    "stacks of 2 frames",
  );
  padded.close();
});

const NORMALIZED: Readonly<Record<string, Partial<SacConfig>>> = {
  "single steps": {},
  "returns of several steps by their errors": {
    nSteps: 3,
    replay: "proportional",
  },
};

for (const [name, config] of Object.entries(NORMALIZED)) {
  Deno.test(`what was kept is drawn by the scale of the moment, ${name}`, () => {
    const given = { ...config, learningStarts: 30 };
    const observations = new GivenScale(5, 8), rewards = new GivenScale(0, 0.5);
    const normalization = { observations, rewards };
    const agent = agentOf(given, BOX, { normalization });
    // The other one is given everything by the scale that holds in the end.
    const other = agentOf(given);
    const last = { observations: new GivenScale(0.25, 0.5), deviation: 4 };
    const scaled = (batch: unknown) => {
      const target = new Float32Array((batch as Float32Array).length);
      last.observations.apply(batch as Float32Array, target);
      return target;
    };
    const outside = {
      act: (batch: unknown) => other.act(scaled(batch)),
      observe: (step: VecStep) =>
        other.observe({
          ...step,
          observations: scaled(step.observations),
          finalObservations: scaled(step.finalObservations),
          rewards: step.rewards.map((it) => it / last.deviation),
        }),
      update: () => other.update(),
    } as SAC;
    const [env, sameEnv] = [new MadeUpEnv(BOX), new MadeUpEnv(BOX)];
    env.play(agent, 14);
    sameEnv.play(outside, 14);
    Object.assign(observations, last.observations, { seen: observations.seen });
    rewards.deviation = last.deviation;
    const learned = env.play(agent, 10);
    assert(learned.updates.length > 0);
    assertEquals(learned, sameEnv.play(outside, 10));
    assertEquals(observations.seen, 24 * 6);
    assertEquals(rewards.seen, 24 * 2);

    const batch = Float32Array.from({ length: 6 }, (_, i) => Math.cos(i));
    const choose = { deterministic: true };
    assertEquals(
      agent.policy(choose).act(batch),
      other.policy(choose).act(scaled(batch)),
    );
    const row = batch.subarray(0, 3);
    assertEquals(
      agent.qValues(row, [0.5, -0.5]),
      other.qValues(scaled(row), [0.5, -0.5]),
    );
    const { scaling } = observations;
    assertEquals(agent.exportPolicy(), other.exportPolicy({ scaling }));
    agent.close();
    other.close();
  });
}

Deno.test("scales are saved, and are wanted where they were", () => {
  const make = (mean: number) => {
    const normalization = { observations: new GivenScale(mean, 2) };
    return agentOf({}, BOX, { normalization });
  };
  const [first, second] = [make(3), make(7)];
  play(first, 12);
  const state = structuredClone(first.save());
  second.load(state);
  assertEquals(second.save(), state);
  const plain = agentOf();
  assertThrows(
    () => plain.load(state),
    TypeError,
    "does not scale observations from one that does",
  );
  assertThrows(
    () => first.load(plain.save()),
    TypeError,
    "scales observations from one that does not",
  );
  for (const agent of [first, second, plain]) agent.close();
});

Deno.test("what is no object is refused as options", () => {
  for (const options of [null, 3, []] as never[]) {
    assertThrows(
      () => new SAC(BOX, options),
      TypeError,
      "as the options of an agent: expected an object",
    );
  }
});

const IMAGE = {
  type: "box",
  shape: [40, 40, 1],
  low: 0,
  high: 255,
  dtype: "uint8",
} as const;
const REFUSED: readonly [Partial<SacConfig>, Partial<AgentSpaces>, string][] = [
  [
    { droppedQuantiles: 1 },
    {},
    "droppedQuantiles and no quantiles: expected quantiles or method: tqc",
  ],
  [
    { method: "tqc", droppedQuantiles: 25 },
    {},
    "droppedQuantiles: 25 and quantiles: 25: expected droppedQuantiles below 25",
  ],
  [
    { targetCritics: 3 },
    {},
    "targetCritics: 3 and numCritics: 2: expected numCritics of at least 3",
  ],
  [
    { normalization: "batch", targetNetworks: true },
    {},
    "normalization: batch and targetNetworks: true: expected targetNetworks: false",
  ],
  [
    { targetNetworks: false },
    {},
    "targetNetworks: false and normalization: none: expected normalization: batch",
  ],
  [
    { method: "droq", targetNetworks: false },
    {},
    "targetNetworks: false and normalization: layer",
  ],
  [
    { method: "crossq", targetCritics: 1 },
    {},
    "targetCritics and no target networks",
  ],
  [
    { method: "crossq" },
    spacesOf("discrete"),
    "method: crossq and discrete actions: expected box actions, or method: sac, redq or droq",
  ],
  [
    { method: "tqc" },
    spacesOf("discrete"),
    "method: tqc and discrete actions: expected box actions",
  ],
  [
    { method: "tqc" },
    { ...spacesOf("discrete"), actionMasks: true },
    "method: tqc and action masks: expected none, or method: sac",
  ],
  [
    { method: "crossq" },
    { observationSpace: IMAGE },
    "method: crossq and network: cnn: expected network: mlp",
  ],
  [
    { normalization: "batch" },
    spacesOf("discrete"),
    "normalization: batch and discrete actions: expected box actions",
  ],
  [
    { quantiles: 5, network: "cnn_small" },
    { observationSpace: IMAGE },
    "quantiles and network: cnn_small: expected network: mlp",
  ],
];

Deno.test("critics that do not go together are refused in a line", () => {
  for (const [config, spaces, message] of REFUSED) {
    assertThrows(
      () => new SAC({ ...spacesOf("box"), numEnvs: 1, ...spaces }, { config }),
      TypeError,
      `Cannot run SAC with ${message}`,
    );
  }
  assertThrows(
    () =>
      new SAC({ ...spacesOf("box"), numEnvs: 1 }, { config: { dropout: 1 } }),
    RangeError,
    "dropout",
  );
});

Deno.test("a rate of target networks does nothing where there are none", () => {
  const idle = (config: Partial<SacConfig>) =>
    sac.meta.unusedSettings!({ ...defaultSacConfig, ...config }, {}).tau;
  assertEquals(idle({ method: "crossq" }), "there are no target networks");
  assertEquals(idle({ method: "redq" }), undefined);
});

Deno.test("acting and estimating move no running statistics", () => {
  const agent = agentOf({ method: "crossq", batchSize: 4, learningStarts: 4 });
  play(agent, 6);
  const running = () => JSON.stringify(agent.save());
  const before = running();
  agent.qValues(new Float32Array(3), [0.5, -0.5]);
  agent.policy({ deterministic: true }).act(new Float32Array(6));
  assertEquals(running(), before);
  agent.close();
});
