import type {
  AgentSpaces,
  ObservationScale,
  RewardScale,
} from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import { plotQValues } from "@bellman/training/plots";
import type { StateTree, VecStep } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { SacConfig } from "./config.ts";
import { SAC } from "./sac.ts";
import {
  BOX_SPACES,
  DISCRETE_SPACES,
  FRAME_SPACES,
  Stage,
} from "./testdata/play.ts";

await selectBackend("cpu");

const SMALL: Partial<SacConfig> = {
  hiddenSizes: [8, 8],
  batchSize: 8,
  bufferSize: 60,
  learningStarts: 8,
};

/** Every form, and every way to remember and to explore. */
const FORMS: Readonly<Record<string, [AgentSpaces, Partial<SacConfig>]>> = {
  "two Q functions": [BOX_SPACES, {}],
  "a given temperature": [BOX_SPACES, { temperature: 0.2 }],
  "several updates at once": [BOX_SPACES, {
    trainFrequency: 3,
    gradientSteps: -1,
    targetUpdateInterval: 2,
  }],
  "proportional replay of several steps": [BOX_SPACES, {
    replay: "proportional",
    nSteps: 3,
  }],
  "replay by rank": [BOX_SPACES, { replay: "rank" }],
  "state-dependent exploration": [BOX_SPACES, {
    useSde: true,
    sdeSampleFrequency: 4,
  }],
  "value critics": [BOX_SPACES, { critics: "value", actionPrior: "normal" }],
  "value critics by likelihood ratio": [BOX_SPACES, {
    critics: "value",
    reparameterize: false,
  }],
  "a mixture": [BOX_SPACES, { critics: "value", policy: "mixture" }],
  "value critics, returns of several steps": [BOX_SPACES, {
    critics: "value",
    actionPrior: "normal",
    nSteps: 3,
  }],
  "discrete actions": [DISCRETE_SPACES, {
    initialExploration: "policy",
  }],
  "discrete actions, returns of several steps": [DISCRETE_SPACES, {
    nSteps: 3,
  }],
  "returns that count the last entropy alone": [BOX_SPACES, {
    nSteps: 2,
    nStepEntropy: "last",
  }],
  "frames that are shared": [FRAME_SPACES, {
    network: "cnn_small",
    bufferSize: 24,
    batchSize: 2,
  }],
};

function agentFor(
  [spaces, config]: [AgentSpaces, Partial<SacConfig>],
  options: { engine?: "onnx" | "eager"; seed?: number } = {},
): SAC {
  const { engine = "eager", seed = 3 } = options;
  return new SAC(spaces, { config: { ...SMALL, ...config }, seed, engine });
}

function learnedOf(agent: SAC): StateTree {
  return (agent.save() as { learned: StateTree }).learned;
}

Deno.test("the form of log-probabilities reaches the update", () => {
  const [exact, epsilon] = (["exact", "epsilon"] as const).map((form) => {
    const agent = agentFor([BOX_SPACES, { squashCorrection: form }]);
    new Stage(BOX_SPACES).play(agent, 14);
    return (agent.save() as { learned: { critics: StateTree } }).learned
      .critics;
  });
  assertNotEquals(exact, epsilon);
});

Deno.test("the temperature starts at 1, lower for discrete actions, or as told", () => {
  const startOf = (spaces: AgentSpaces, config: Partial<SacConfig>) => {
    const agent = agentFor([spaces, config]);
    const [first] = new Stage(spaces).play(agent, 14);
    agent.close();
    return first.temperature;
  };
  assertAlmostEquals(startOf(BOX_SPACES, {}), 1, 1e-6);
  assertAlmostEquals(startOf(DISCRETE_SPACES, {}), 0.02, 1e-6);
  for (const spaces of [BOX_SPACES, DISCRETE_SPACES]) {
    const told = startOf(spaces, { initialTemperature: 0.5 });
    assertAlmostEquals(told, 0.5, 1e-6);
  }
});

for (const [name, form] of Object.entries(FORMS)) {
  Deno.test(`${name}: what was saved goes on bit for bit`, () => {
    const [first, second] = [agentFor(form), agentFor(form, { seed: 99 })];
    const [spaces] = form;
    const stage = new Stage(spaces);
    stage.play(first, 14);
    const state = structuredClone(first.save());
    const later = stage.step;
    const going = stage.play(first, 7);
    second.load(state);
    const again = new Stage(spaces, later).play(second, 7);
    assert(going.length > 0);
    assertEquals(again, going);
    assertEquals(second.save(), first.save());
    first.close();
    second.close();
  });

  Deno.test(`${name}: compiled and eager runs agree`, () => {
    const agents = (["onnx", "eager"] as const).map((engine) =>
      agentFor(form, { engine })
    );
    const [compiled, eager] = agents.map((agent) =>
      new Stage(form[0]).play(agent, 12)
    );
    assertEquals(agents.map(({ engine }) => engine), ["onnx", "eager"]);
    assert(compiled.length > 0);
    compiled.forEach((statistics, i) => {
      for (const key in statistics) {
        const wanted = eager[i][key];
        assertAlmostEquals(
          statistics[key],
          wanted,
          1e-3 * (1 + Math.abs(wanted)),
        );
      }
    });
    for (const agent of agents) agent.close();
  });
}

for (
  const name of [
    "two Q functions",
    "proportional replay of several steps",
    "replay by rank",
    "discrete actions, returns of several steps",
    "frames that are shared",
  ]
) {
  Deno.test(`${name}: with its transitions in a file it is the same, and goes on from any save`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "bellman-sac-" });
    const [spaces, config] = FORMS[name];
    // Older transitions make room before the first save.
    const small = { ...config, bufferSize: 24 };
    const inFile = (seed?: number) => {
      const settings = { ...small, replayStorage: "file" } as const;
      const agent = agentFor([spaces, settings], { seed });
      agent.openReplay(`${folder}/replay.rows`);
      return agent;
    };
    const memory = agentFor([spaces, small]), first = inFile();
    const stages = [new Stage(spaces), new Stage(spaces)];
    const wanted = stages[0].play(memory, 14);
    assertEquals(stages[1].play(first, 14), wanted);
    const state = structuredClone(first.save()), later = stages[1].step;
    const going = stages[0].play(memory, 8);
    assertEquals(stages[1].play(first, 8), going);
    first.save(); // the second one that is kept
    stages[1].play(first, 5);
    first.close(); // as good as a crash

    const second = inFile(99);
    second.load(state);
    assertEquals(new Stage(spaces, later).play(second, 8), going);
    assertEquals(learnedOf(second), learnedOf(memory));
    // Without its rows it goes on with the buffer that there is.
    const rows = second.rows!;
    assert(rows.of(state) !== undefined);
    rows.close();
    assertThrows(
      () => second.save(),
      TypeError,
      "Cannot keep transitions in a file: expected openReplay() of one before",
    );
    await Deno.remove(`${folder}/replay.rows`);
    rows.open(`${folder}/replay.rows`);
    assertThrows(() => second.load(state), SyntaxError, "Cannot read rows");
    second.load(rows.replaceIn(state));
    assertEquals(second.replaySize, 0);
    new Stage(spaces, later).play(second, 2);
    assertEquals(second.replaySize, 2 * spaces.numEnvs);
    [memory, second].forEach((it) => it.close());
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("what was saved while random actions are repeated goes on bit for bit", () => {
  for (const spaces of [DISCRETE_SPACES, BOX_SPACES]) {
    const form: [AgentSpaces, Partial<SacConfig>] = [spaces, {
      initialExploration: "repeated",
      learningStarts: 36,
    }];
    const [first, second] = [agentFor(form), agentFor(form, { seed: 99 })];
    const stage = new Stage(spaces);
    assertEquals(stage.play(first, 14), []); // 28 transitions
    const later = stage.step;
    second.load(structuredClone(first.save()));
    const going = stage.play(first, 7);
    assert(going.length > 0);
    assertEquals(new Stage(spaces, later).play(second, 7), going);
    assertEquals(second.save(), first.save());
    first.close();
    second.close();
  }
});

Deno.test("eager updates leave no tensors behind", () => {
  for (const form of Object.values(FORMS)) {
    const agent = agentFor(form);
    const stage = new Stage(form[0]);
    stage.play(agent, 12);
    const before = tf.memory().numTensors;
    stage.play(agent, 5);
    assertEquals(tf.memory().numTensors, before);
    agent.close();
  }
});

Deno.test("it learns when it is time to", () => {
  const count = (config: Partial<SacConfig>, steps: number) => {
    const agent = agentFor([BOX_SPACES, config]);
    const told = new Stage(BOX_SPACES).play(agent, steps).length;
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

/** What Q is learned to be in the one state of an endless or a cut episode. */
function learnedValue(
  flags: { terminated: number; truncated: number },
  config: Partial<SacConfig>,
): number {
  const spaces: AgentSpaces = {
    observationSpace: { type: "discrete", n: 1 },
    actionSpace: {
      type: "box",
      shape: [1],
      low: -1,
      high: 1,
      dtype: "float32",
    },
    numEnvs: 1,
  };
  const agent = new SAC(spaces, {
    config: {
      ...SMALL,
      temperature: 0,
      gamma: 0.5,
      tau: 0.2,
      learningRate: 0.01,
      ...config,
    },
    seed: 2,
  });
  const observations = Int32Array.of(0);
  for (let i = 0; i < 400; i++) {
    agent.act(observations);
    agent.observe({
      observations,
      finalObservations: observations,
      rewards: Float64Array.of(1),
      terminated: Uint8Array.of(flags.terminated),
      truncated: Uint8Array.of(flags.truncated),
    });
    agent.update();
  }
  const [value] = agent.qValues([0], [0.1]);
  agent.close();
  return value;
}

Deno.test("what is terminated is worth its reward, what is truncated goes on", () => {
  const terminated = { terminated: 1, truncated: 0 };
  const truncated = { terminated: 0, truncated: 1 };
  const going = { terminated: 0, truncated: 0 };
  // Without an end, a reward of 1 each step is worth 1 / (1 - 0.5).
  assertAlmostEquals(learnedValue(terminated, {}), 1, 0.1);
  assertAlmostEquals(learnedValue(truncated, {}), 2, 0.2);
  assertAlmostEquals(learnedValue(going, {}), 2, 0.2);
  assertAlmostEquals(learnedValue(going, { nSteps: 3 }), 2, 0.2);
  assertAlmostEquals(learnedValue(terminated, { nSteps: 3 }), 1, 0.1);
  assertAlmostEquals(learnedValue(truncated, { nSteps: 3 }), 2, 0.2);
  const cut = { bootstrapTruncated: false };
  assertAlmostEquals(learnedValue(truncated, cut), 1, 0.1);
});

Deno.test("rewards are scaled by a number or by a function of the iteration", () => {
  const asked: number[] = [];
  const run = (
    options: { rewardScale?: (at: number) => number },
    scale = 1,
  ) => {
    const agent = new SAC(BOX_SPACES, {
      config: { ...SMALL, rewardScale: scale },
      seed: 4,
      ...options,
    });
    const updates = new Stage(BOX_SPACES).play(agent, 8);
    agent.close();
    return updates;
  };
  const byFunction = run({
    rewardScale: (iteration) => {
      asked.push(iteration);
      return 3;
    },
  });
  assertEquals([...new Set(asked)], [0, 1, 2, 3, 4]);
  assertEquals(byFunction, run({}, 3));
  assertThrows(() => run({ rewardScale: () => NaN }), RangeError, "NaN");
});

Deno.test("without its transitions, a saved agent collects new ones", () => {
  const form: [AgentSpaces, Partial<SacConfig>] = [
    BOX_SPACES,
    { saveReplay: false },
  ];
  const [first, second] = [agentFor(form), agentFor(form)];
  new Stage(BOX_SPACES).play(first, 10);
  second.load(first.save());
  assertEquals([second.replaySize, second.updates], [0, first.updates]);
  assertEquals(new Stage(BOX_SPACES).play(second, 3).length, 0);
  assertEquals(new Stage(BOX_SPACES).play(second, 3).length, 3);
  first.close();
  second.close();
});

Deno.test("actions keep to the bounds of their space, and the mode repeats", () => {
  const agent = agentFor([BOX_SPACES, {}]);
  const stage = new Stage(BOX_SPACES);
  stage.play(agent, 10);
  const observations = Float32Array.from({ length: 6 }, (_, i) => i / 6);
  for (let i = 0; i < 50; i++) {
    assert(agent.act(observations).every((it) => Math.abs(it) <= 2));
  }
  const actor = agent.policy({ deterministic: true, numEnvs: 2 });
  assertEquals(actor.act(observations), actor.act(observations));
  agent.close();
});

Deno.test("values of actions are those of the first Q function", () => {
  const box = agentFor([BOX_SPACES, {}]);
  assertEquals(box.qValues([0.1, 0.2, 0.3], new Float32Array(10)).length, 5);
  box.close();
  const discrete = agentFor([DISCRETE_SPACES, {}]);
  assertEquals(discrete.qValues([0.1, 0.2, 0.3], []).length, 3);
  discrete.close();
});

Deno.test("settings that cannot be run with are one clear line", () => {
  const refused = (
    config: Partial<SacConfig>,
    message: string,
    spaces = BOX_SPACES,
  ) => {
    const error = assertThrows(() => new SAC(spaces, { config }), Error);
    assert(error.message.includes(message), error.message);
    assertEquals(error.message.includes("\n"), false);
  };
  refused({ gamma: 1.5 }, "gamma = 1.5");
  refused({ tau: 0 }, "tau = 0");
  refused({ batchSize: 2.5 }, "batchSize = 2.5");
  refused({ gradientSteps: 0 }, "gradientSteps = 0");
  refused({ criticLearningRate: -1 }, "criticLearningRate = -1");
  refused({ learningStarts: 200, bufferSize: 100 }, "learningStarts = 200");
  refused({ policy: "mixture" }, "critics: value");
  refused({ critics: "value", temperature: 0.1 }, "rewardScale");
  refused({ critics: "value" }, "discrete actions", DISCRETE_SPACES);
  refused({ useSde: true }, "discrete actions", DISCRETE_SPACES);
  refused({}, "share 2 frames", { ...BOX_SPACES, stackedFrames: 2 });
  refused({}, "stackedFrames = 1.5", { ...BOX_SPACES, stackedFrames: 1.5 });
  refused({}, "multiBinary", {
    ...BOX_SPACES,
    actionSpace: { type: "multiBinary", shape: [2] } as never,
  });
});

Deno.test("something else cannot be restored", () => {
  const agent = agentFor([BOX_SPACES, {}]);
  const state = agent.save() as Record<string, never>;
  assertThrows(() => agent.load(null), TypeError, "save()");
  assertThrows(() => agent.load({ updates: 1 }), TypeError, "save()");
  const other = agentFor([BOX_SPACES, { hiddenSizes: [4] }]);
  assertThrows(() => other.load(state), RangeError, "policy");
  agent.close();
  other.close();
});

Deno.test("observations that are no stacks are refused when they arrive", () => {
  const numbers = { ...BOX_SPACES, stackedFrames: 3 };
  const agent = agentFor([numbers, {}]);
  assertThrows(
    () => new Stage(numbers).play(agent, 1),
    RangeError,
    "Cannot keep observations as stacks of 3 frames: those of copy 0",
  );
  agent.close();
  // Frames that are padded by zeros begin otherwise than they are put together.
  const padded = agentFor([FRAME_SPACES, { network: "cnn_small" }]);
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

/** Scales that are what a test says. */
class GivenScale implements ObservationScale, RewardScale {
  readonly space = BOX_SPACES.observationSpace;
  seen = 0;
  constructor(public mean: number, public deviation: number) {}
  get scaling() {
    const { mean, deviation } = this;
    const each = (value: number) => [value, value, value];
    return { mean: each(mean), variance: each(deviation ** 2), clip: 50 };
  }
  see(batch: ArrayLike<number>): void {
    this.seen += batch.length;
  }
  apply(batch: ArrayLike<number>, target: Float32Array): void {
    for (let i = 0; i < batch.length; i++) {
      target[i] = (batch[i] - this.mean) / this.deviation;
    }
  }
  scale(rewards: ArrayLike<number>, target: Float32Array): void {
    for (let i = 0; i < rewards.length; i++) {
      target[i] = rewards[i] / this.deviation;
    }
  }
  save(): StateTree {
    return [this.mean, this.deviation];
  }
  load(state: StateTree): void {
    [this.mean, this.deviation] = state as number[];
  }
}

const NORMALIZED: Readonly<Record<string, Partial<SacConfig>>> = {
  "single steps": {},
  "returns of several steps by their errors": {
    nSteps: 3,
    replay: "proportional",
  },
  "value critics": { critics: "value" },
};

for (const [name, config] of Object.entries(NORMALIZED)) {
  Deno.test(`what was kept is drawn by the scale of the moment, ${name}`, () => {
    const options = {
      config: { ...SMALL, ...config, learningStarts: 30 },
      seed: 3,
    };
    const observations = new GivenScale(5, 8), rewards = new GivenScale(0, 0.5);
    const agent = new SAC(BOX_SPACES, {
      ...options,
      normalization: { observations, rewards },
    });
    // The other one is given everything by the scale that holds in the end.
    const other = new SAC(BOX_SPACES, options);
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
    const [inStage, outStage] = [new Stage(BOX_SPACES), new Stage(BOX_SPACES)];
    inStage.play(agent, 14);
    outStage.play(outside, 14);
    Object.assign(observations, last.observations, { seen: observations.seen });
    rewards.deviation = last.deviation;
    const learned = inStage.play(agent, 10);
    assert(learned.length > 0);
    assertEquals(learned, outStage.play(outside, 10));
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
    const observations = new GivenScale(mean, 2);
    const normalization = { observations };
    return new SAC(BOX_SPACES, { config: SMALL, seed: 1, normalization });
  };
  const [first, second] = [make(3), make(7)];
  new Stage(BOX_SPACES).play(first, 12);
  const state = structuredClone(first.save());
  second.load(state);
  assertEquals(second.save(), state);
  const plain = agentFor([BOX_SPACES, {}]);
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

Deno.test("what is not finite is refused, and nothing of it reaches the replay", () => {
  const numEnvs = BOX_SPACES.numEnvs;
  const sac = new SAC(BOX_SPACES, { config: SMALL });
  new Stage(BOX_SPACES).play(sac, 6);
  const size = 3 * numEnvs;
  const seen = new Float32Array(size);
  const odd = Float32Array.from(seen).fill(NaN, size - 1);
  const right = {
    observations: seen,
    rewards: new Float64Array(numEnvs),
    terminated: new Uint8Array(numEnvs),
    truncated: new Uint8Array(numEnvs).fill(1),
    finalObservations: seen,
  };
  const before = sac.save();
  for (
    const parts of [
      { rewards: right.rewards.with(numEnvs - 1, Infinity) },
      { rewards: right.rewards.with(numEnvs - 1, 1e308) },
      { observations: odd },
      { finalObservations: odd },
    ]
  ) {
    assertThrows(
      () => sac.observe({ ...right, ...parts }),
      RangeError,
      `of copy ${numEnvs - 1} at step ${7 * numEnvs}`,
    );
  }
  assertEquals(sac.save(), before);
  sac.close();
});

const PLOTTED: Readonly<Record<string, [AgentSpaces, Partial<SacConfig>]>> = {
  "box actions": [BOX_SPACES, { hiddenSizes: [8] }],
  "a mixture": [BOX_SPACES, {
    hiddenSizes: [8],
    critics: "value",
    policy: "mixture",
  }],
  "state-dependent exploration": [BOX_SPACES, {
    hiddenSizes: [8],
    useSde: true,
  }],
  "discrete actions": [DISCRETE_SPACES, { hiddenSizes: [8] }],
  "images": [FRAME_SPACES, { network: "cnn_small", hiddenSizes: [8] }],
};

for (const [name, [spaces, config]] of Object.entries(PLOTTED)) {
  // Images take long on the cpu backend.
  const engines = name === "images" ? ["onnx"] : ["onnx", "eager"];
  for (const engine of engines as ("onnx" | "eager")[]) {
    Deno.test(`SAC with ${name} is drawn, and goes on as it was, ${engine}`, () => {
      const agent = new SAC(spaces, {
        config: { ...config, batchSize: 4, learningStarts: 4, bufferSize: 40 },
        seed: 2,
        engine,
      });
      const stage = new Stage(spaces);
      stage.play(agent, 5);
      const { observationSpace, actionSpace } = spaces;
      const size = observationSpace.type === "box"
        ? observationSpace.shape.reduce((product, it) => product * it, 1)
        : 1;
      const observations = [0, 1]
        .map((it) => new Float32Array(size).fill(it));
      const options = { actionSpace, observations, samples: 10, gridSize: 5 };
      const draw = () => plotQValues(agent, options);
      const state = structuredClone(agent.save());
      const svg = draw();
      assertEquals(agent.save(), state);
      assertEquals(draw(), svg);
      assertEquals(svg.match(/class="bp-panel"/g)?.length, 2);
      if (actionSpace.type === "box") {
        // No sample is outside the bounds; one more dot is in the legend.
        assertEquals(svg.match(/<circle/g)?.length, 21);
      }
      stage.play(agent, 5);
      assert(draw() !== svg);
      agent.close();
    });
  }
}
