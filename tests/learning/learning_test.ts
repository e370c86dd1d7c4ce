/** Every algorithm learns tasks whose values and best actions are known. */
import { ALGORITHMS } from "@bellman/runs/settings";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { learn, valuesOf } from "./testdata/learn.ts";
import { POLES, testPole } from "./testdata/poles.ts";
import {
  assertIdentity,
  CHAIN_LENGTH,
  chainOf,
  CUES,
  evaluated,
  IDENTITIES,
  type IdentityKind,
  type ToyTask,
} from "./toy_vec_env.ts";

/** A task of saying what was seen, updates and settings. */
type Saying = [kind: IdentityKind, updates: number, config?: object];

const PRIORITIES = ["proportional", "rank"] as const;

const SAYS: Readonly<Record<string, Record<string, Saying>>> = {
  a2c: {
    "discrete actions": ["discrete", 300],
    "several discrete actions": ["multiDiscrete", 300],
    "flags": ["multiBinary", 300],
    "box actions": ["box", 600],
  },
  acer: {
    "discrete actions": ["discrete", 80],
    ...Object.fromEntries(
      PRIORITIES.map((
        replay,
      ) => [`by priorities, ${replay}`, ["discrete", 80, { replay }]]),
    ),
    "several discrete actions": ["multiDiscrete", 200],
    "box actions": ["box", 200],
  },
  acktr: {
    "discrete actions": ["discrete", 120, { valueNetwork: "shared" }],
    "separate objectives": ["discrete", 120, {
      objective: "separate",
      valueNetwork: "separate",
    }],
    "several discrete actions": ["multiDiscrete", 200],
    "flags": ["multiBinary", 200],
    "box actions": ["box", 600, {
      klClip: 0.003,
      entropyCoefficient: 0,
      coldLearningRate: 0.01,
    }],
  },
  a3c: { "discrete actions": ["discrete", 2000] },
  "async-q": { "discrete actions": ["discrete", 4000] },
  "async-nstep-q": { "discrete actions": ["discrete", 2000] },
  "async-sarsa": { "discrete actions": ["discrete", 4000] },
  dqn: {
    "means": ["discrete", 300],
    "dueling quantiles by priorities": [
      "discrete",
      300,
      { values: "quantile", dueling: true, replay: "proportional" },
    ],
    "categorical values, noise": ["discrete", 300, {
      values: "categorical",
      valueRange: [-1, 2],
      exploration: "noisy",
      replay: "rank",
    }],
  },
  ppo: {
    "discrete actions": ["discrete", 20],
    "several discrete actions": ["multiDiscrete", 40],
    "flags": ["multiBinary", 40],
    "box actions": ["box", 60],
  },
  sac: {
    "two Q functions": ["box", 500],
    "prioritized replay of several steps": [
      "box",
      500,
      { replay: "proportional", nSteps: 2 },
    ],
    "replay by rank": ["box", 500, { replay: "rank" }],
    "state-dependent exploration": ["box", 500, { useSde: true }],
    "discrete actions": ["discrete", 500, { targetEntropyFactor: 0.2 }],
  },
  "sac-v1": {
    "a Gaussian": ["box", 500],
    "by likelihood ratio": ["box", 500, { reparameterize: false }],
    "a mixture": ["box", 500, { policy: "mixture", components: 2 }],
  },
  td3: {
    "two Q functions": ["box", 500],
    "prioritized replay of several steps, noise that is a walk": [
      "box",
      500,
      { replay: "proportional", nSteps: 2, explorationNoiseType: "ou" },
    ],
  },
  ddpg: { "one Q function": ["box", 500] },
};

for (const [algorithm, sayings] of Object.entries(SAYS)) {
  for (const [name, [kind, updates, own]] of Object.entries(sayings)) {
    Deno.test(`${algorithm} learns to say what it sees, ${name}`, async () => {
      const rate = algorithm === "acktr" ? {} : { learningRate: 0.01 };
      const config = { gamma: 0, hiddenSizes: [32], ...rate, ...own };
      const learned = await learn(algorithm, IDENTITIES[kind], {
        updates,
        config,
      });
      assertIdentity(kind, learned);
    });
  }
}

const LINEAR = { gamma: 0.8, hiddenSizes: [] };
const LINEAR_ADAM = { ...LINEAR, learningRate: 0.02, maxGradNorm: null };
const CATEGORICAL = { values: "categorical", valueRange: [0, 6] } as const;
const GREEDY = { gamma: 0.5, tau: 0.05 };
const SOFT = { gamma: 0.5, temperature: 0, tau: 0.05 };

/** Updates and settings to learn the values of a chain. */
const VALUES: Readonly<
  Record<string, [updates: number, ...configs: { gamma: number }[]]>
> = {
  a2c: [1200, { ...LINEAR_ADAM, valueCoefficient: 1 } as typeof LINEAR],
  acer: [300, LINEAR_ADAM],
  acktr: [300, { ...LINEAR, klClip: 0.1 } as typeof LINEAR],
  a3c: [3000, LINEAR],
  "async-q": [3000, LINEAR],
  "async-nstep-q": [3000, LINEAR],
  "async-sarsa": [3000, LINEAR],
  dqn: [
    1200,
    LINEAR_ADAM,
    { ...LINEAR_ADAM, nSteps: 3, dueling: true } as typeof LINEAR,
    { ...LINEAR_ADAM, ...CATEGORICAL } as typeof LINEAR,
    {
      ...LINEAR_ADAM,
      values: "quantile",
      atoms: 8,
      double: false,
    } as typeof LINEAR,
  ],
  ppo: [100, LINEAR_ADAM],
  sac: [600, SOFT, { ...SOFT, nSteps: 3 } as typeof SOFT],
  td3: [600, GREEDY, { ...GREEDY, nSteps: 3 } as typeof GREEDY],
  ddpg: [600, GREEDY],
};

/** Algorithms of box actions alone. */
const BOX_ONLY = ["sac-v1", "td3", "ddpg"];

for (const [algorithm, [updates, ...configs]] of Object.entries(VALUES)) {
  const { meta: { schema: { properties }, isGreedy } } = ALGORITHMS
    .find(({ meta }) => meta.name === algorithm)!;
  const actions = ["sac", ...BOX_ONLY].includes(algorithm)
    ? { actionSpace: IDENTITIES.box.actionSpace }
    : isGreedy
    ? { actionSpace: IDENTITIES.discrete.actionSpace }
    : {};
  for (const [i, config] of configs.entries()) {
    const ends = ["terminated", "truncated", "truncated as terminated"]
      .slice(0, "bootstrapTruncated" in properties ? 3 : 2);
    for (const end of ends) {
      Deno.test(`${algorithm} learns the values of a chain that is ${end}, ${i}`, async () => {
        const isCut = end === "truncated", { gamma } = config;
        const task = chainOf(end === "terminated" ? end : "truncated");
        const { agent } = await learn(algorithm, {
          ...task,
          ...actions,
        }, {
          updates,
          config: {
            ...config,
            ...(end.endsWith("as terminated") && { bootstrapTruncated: false }),
          },
        });
        // Cut, it would have gone round for ever.
        valuesOf(agent).forEach((value, time) => {
          const left = isCut ? Infinity : CHAIN_LENGTH - time;
          const worth = (1 - gamma ** left) / (1 - gamma);
          assertAlmostEquals(value, worth, 0.05 * worth);
        });
        agent.close();
      });
    }
  }
}

/** Updates and settings to learn the best of the actions that masks allow. */
const MASKED: Readonly<Record<string, [updates: number, config?: object]>> = {
  a2c: [300],
  acer: [80],
  acktr: [120, { valueNetwork: "shared" }],
  a3c: [2000],
  "async-q": [4000],
  "async-nstep-q": [2000],
  "async-sarsa": [4000],
  dqn: [300],
  ppo: [60, { numSteps: 8 }],
  sac: [500, { targetEntropyFactor: 0.2 }],
};

/** Updates and settings to learn the values of a chain with masks. */
const MASKED_VALUES: typeof VALUES = {
  ...VALUES,
  "async-nstep-q": [3000, { ...LINEAR, maxSteps: 2 } as typeof LINEAR],
  // An entropy of what is forbidden would have a worth.
  sac: [600, { ...SOFT, temperature: 0.8 } as typeof SOFT],
};

/** Of the actions that are allowed, the one that pays is the third from what is seen. */
const MASKED_BEST: ToyTask = {
  ...IDENTITIES.discrete,
  reward: (seen, action) => +(action[0] === (seen + 2) % 4),
  allows: (seen, action) => action !== seen,
};

/** A chain that only one action goes along, each step of which costs 1. */
const MASKED_CHAIN: ToyTask = {
  ...chainOf("terminated"),
  actionSpace: { type: "discrete", n: 3 },
  reward: () => -1,
  allows: (seen, action) => action === seen % 2,
};

// Without those that other tests register.
const OURS = ALGORITHMS.filter(({ meta }) => !meta.learnsFromData);

Deno.test("every algorithm learns with masks", () => {
  assertEquals(
    Object.keys(MASKED).toSorted(),
    OURS.map(({ meta }) => meta.name)
      .filter((it) => !BOX_ONLY.includes(it)).toSorted(),
  );
});

for (const [algorithm, [updates, own]] of Object.entries(MASKED)) {
  Deno.test(`${algorithm} learns the best of the actions that masks allow`, async () => {
    const rate = algorithm === "acktr" ? {} : { learningRate: 0.01 };
    const config = { gamma: 0, hiddenSizes: [32], ...rate, ...own };
    const learned = await learn(algorithm, MASKED_BEST, { updates, config });
    assertIdentity("discrete", learned);
  });

  Deno.test(`${algorithm} values a chain by the actions that masks allow`, async () => {
    const [updates, config] = MASKED_VALUES[algorithm], { gamma } = config;
    const { agent } = await learn(algorithm, MASKED_CHAIN, { updates, config });
    const found = valuesOf(agent);
    for (let state = 0; state < CHAIN_LENGTH; state++) {
      const value = agent.qValues?.([state], [])[state % 2] ?? found[state];
      const left = CHAIN_LENGTH - state;
      const worth = -(1 - gamma ** left) / (1 - gamma);
      assertAlmostEquals(value, worth, -0.05 * worth, `state ${state}`);
    }
    agent.close();
  });
}

/** Cues that ask for a box action. */
const BOX_CUES: ToyTask = {
  ...CUES,
  actionSpace: { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" },
  reward: (_, action, { time, row }) =>
    time === 2 ? 1 - Math.abs(action[0] - (row % 2 ? 1 : -1)) : 0,
};

/** Recurrent agents: one step in three pays, and 16 steps hold five of those. */
const REMEMBERS: [
  string,
  { network: "lstm" | "lnlstm" },
  { updates: number; least: number; task?: ToyTask; learningRate?: number },
][] = [
  ["a2c", { network: "lstm" }, { updates: 300, least: 1, learningRate: 0.02 }],
  [
    "a2c",
    { network: "lnlstm" },
    { updates: 300, least: 1, learningRate: 0.02 },
  ],
  ["acer", { network: "lstm" }, { updates: 100, least: 1, learningRate: 0.01 }],
  [
    "acer",
    { network: "lnlstm" },
    { updates: 100, least: 1, learningRate: 0.01 },
  ],
  // At most 1 each, and nothing in the mean to who forgets.
  [
    "acer",
    { network: "lstm" },
    { updates: 250, least: 0.75, task: BOX_CUES, learningRate: 0.01 },
  ],
  ["acktr", { network: "lstm" }, { updates: 200, least: 1 }],
  ["ppo", { network: "lstm" }, { updates: 60, least: 1, learningRate: 0.02 }],
];

for (const [algorithm, { network }, given] of REMEMBERS) {
  const { updates, least, task = CUES, learningRate } = given;
  const what = task === CUES ? "what it saw" : "which box action to take";
  Deno.test(`${algorithm} with ${network} remembers ${what} two steps ago`, async () => {
    const rate = learningRate === undefined ? {} : { learningRate };
    const config = { network, lstmSize: 8, numSteps: 6, ...rate };
    const reward = evaluated(await learn(algorithm, task, { updates, config }));
    assert(reward > least * 5 / 16 - 1e-6, `mean reward ${reward}`);
  });
}

for (const [algorithm, { seeds: [seed] }] of Object.entries(POLES)) {
  testPole(algorithm, seed);
}
