import { assertEquals, assertRejects } from "@std/assert";
import {
  changesOf,
  completeScores,
  configOf,
  paramsOfFirst,
  readPlan,
} from "./plan.ts";

/** Writes a file of a search, and reads it as a plan. */
async function planOf(text: string, trials?: number, file = "s.yaml") {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/${file}`, text);
    return await readPlan(`${dir}/${file}`, { trials, isTrusted: false });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const HEAD = "algorithm: a2c\nenvironment: CartPole-v1\ntrials: 3\n";
const BODY = "space: { gamma: [0.9, 0.99] }\n";

Deno.test("a search has the name of its file, in letters that a folder may have", async () => {
  const { name } = await planOf(HEAD + BODY, 3, "my größe.yaml");
  assertEquals(name, "my-grosse");
});

Deno.test("a plan has all defaults, and dimensions of the algorithm's kinds", async () => {
  const plan = await planOf(`${HEAD}steps: 1e5
space:
  lr: { min: 1e-4, max: 1e-2, scale: log }
  numSteps: { min: 4, max: 64, scale: log }
  gamma: { min: 0.9, max: 1, step: 0.01 }
  valueLearningRate: { min: 1e-4, max: 1e-2 }
  optimizer: [adam, sgd]
  numEnvs: [4, 8]
set: { learningRate: 1e-3 }
`);
  assertEquals(plan, {
    name: "s",
    algorithm: "a2c",
    environments: ["CartPole-v1"],
    scores: {},
    preset: null,
    steps: 100_000,
    trials: 3,
    seeds: 1,
    space: {
      learningRate: { kind: "float", low: 1e-4, high: 1e-2, log: true },
      numSteps: { kind: "int", low: 4, high: 64, log: true },
      gamma: { kind: "float", low: 0.9, high: 1, log: false, step: 0.01 },
      valueLearningRate: { kind: "float", low: 1e-4, high: 1e-2, log: false },
      optimizer: { kind: "choice", choices: ["adam", "sgd"] },
      numEnvs: { kind: "choice", choices: [4, 8] },
    },
    set: { learningRate: 1e-3 },
    objective: "last",
    sampler: "tpe",
    pruner: "median",
    confirm: { top: 3, seeds: 10 },
    seed: 0,
  });
  assertEquals(paramsOfFirst(plan).learningRate, 1e-3);
  assertEquals(
    configOf(plan, "CartPole-v1", { learningRate: 2 }).learningRate,
    2,
  );
});

Deno.test("a grid has a trial for each combination, and the first one", async () => {
  assertEquals(
    (await planOf(HEAD.replace("trials: 3\n", "") + BODY + "sampler: grid\n"))
      .trials,
    3,
  );
  assertEquals((await planOf(`${HEAD}${BODY}sampler: grid\n`, 2)).trials, 2);
});

Deno.test("several environments have scores, and share what their presets have alike", async () => {
  const plan = await planOf(`algorithm: a2c
environments: [CartPole-v1, Acrobot-v1]
scores: { CartPole-v1: { low: 20, high: 500 }, Acrobot-v1: { low: -500, high: -80 } }
trials: 3
${BODY}`);
  assertEquals(plan.scores["Acrobot-v1"], { low: -500, high: -80 });
  const [one, other] = plan.environments.map((it) => configOf(plan, it).gamma);
  assertEquals(paramsOfFirst(plan), one === other ? { gamma: one } : {});
});

Deno.test("the keys that changed are named, but those that may", async () => {
  const [a, b] = await Promise.all([
    planOf(HEAD + BODY),
    planOf(
      `${HEAD}${BODY}seeds: 2\nname: other\nset: { numEnvs: 4 }\nconfirm: { top: 1 }\n`,
      9,
    ),
  ]);
  assertEquals(changesOf(a, b), ["seeds", "set"]);
});

const BAD: Record<string, string> = {
  "": "expected an algorithm, as in",
  "- 1": "expected a mapping of keys to values",
  "foo: 1": "Unknown key 'foo' in s.yaml: expected one of name, algorithm,",
  "algoritm: a2c": "did you mean 'algorithm'?",
  "algorithm: a2cc\nenvironment: CartPole-v1": "did you mean 'a2c'?",
  "algorithm: a2c": "expected one of 'environment: ID' and 'environments:",
  "algorithm: a2c\nenvironments: [CartPole-v1, CartPole-v1]":
    "the environments of s.yaml with 'CartPole-v1' twice: give it once",
  [`algorithm: a2c\nenvironment: CartPol-v1\ntrials: 2\n${BODY}`]:
    "Unknown environment 'CartPol-v1': did you mean 'CartPole-v1'?",
  [HEAD]: "its space is empty",
  [HEAD.replace("trials: 3", "") + BODY]: "expected the number of trials",
  [`${HEAD}space: { learnRate: [1, 2] }`]: "did you mean 'learningRate'?",
  [`${HEAD}space: { lr: [1, 2], learningRate: [1, 2] }`]:
    "learningRate is in the space already",
  [`${HEAD}space: { seed: [1, 2] }`]: "it is the same in all trials",
  [`${HEAD}space: { gamma: 3 }`]:
    "expected { min, max } or a list of values, not 3",
  [`${HEAD}space: { gamma: { min: 0.5 } }`]: "expected both min and max",
  [`${HEAD}space: { gamma: { min: 0.9, max: 0.5 } }`]:
    "min 0.9 is not below max 0.5",
  [`${HEAD}space: { gamma: { min: 0, max: 1, scale: log } }`]:
    "scale: log takes a min above 0, not 0",
  [`${HEAD}space: { gamma: { min: 0.5, max: 1, scale: log, step: 0.1 } }`]:
    "scale: log takes no step",
  [`${HEAD}space: { gamma: { mni: 0, max: 1 } }`]: "did you mean 'min'?",
  [`${HEAD}space: { gamma: { min: 0, max: 1, scale: lgo } }`]:
    "did you mean 'log'?",
  [`${HEAD}space: { gamma: { min: 0.9, max: 1.1 } }`]:
    "expected a number from 0 to 1",
  [`${HEAD}space: { numSteps: { min: 1.5, max: 4 } }`]: "expected an integer",
  [`${HEAD}space: { numSteps: { min: 4, max: 8, step: 0.5 } }`]:
    "step 0.5 is no whole number",
  [`${HEAD}space: { gamma: { min: 0.9, max: 0.95, step: 0.1 } }`]:
    "it has one value",
  [`${HEAD}space: { optimizer: { min: 1, max: 2 } }`]:
    "expected a list of its values",
  [`${HEAD}space: { optimizer: [adam, sdg] }`]: "did you mean 'sgd'?",
  [`${HEAD}space: { gamma: [0.9] }`]:
    "it has one value, which belongs into 'set'",
  [`${HEAD}space: { gamma: [0.9, 0.9] }`]: "0.9 is in it twice",
  [`${HEAD}sampler: grid\nspace: { gamma: { min: 0, max: 1 } }`]:
    "expected lists or ranges with a step",
  [`${HEAD}sampler: grid\nspace: { numSteps: { min: 1, max: 9999 }, lstmSize: { min: 1, max: 9999 } }`]:
    "it has 99980001 combinations, expected at most 1000000",
  [`${HEAD}sampler: tpee\n${BODY}`]: "did you mean 'tpe'?",
  [`${HEAD}seeds: ten\n${BODY}`]: "expected an integer from 1 to 1000",
  [`${HEAD}seeds: 0\n${BODY}`]: "expected an integer from 1 to 1000",
  [`${HEAD}confirm: { tpo: 1 }\n${BODY}`]: "did you mean 'top'?",
  [`${HEAD}set: { gama: 1 }\n${BODY}`]: "Unknown key 'gama' in set of s.yaml",
  [`${HEAD}set: { num_timesteps: 1 }\n${BODY}`]: "'steps' of the file are",
  [`${HEAD}set: { seed: 1 }\n${BODY}`]:
    "each trial has the seeds 0, 1 and so on",
  [`${HEAD}set: { envModules: [../no.ts] }\n${BODY}`]:
    "read that code first, then add --trust",
  [`${HEAD}name: ../x\n${BODY}`]: "expected up to 100 letters",
  [`${HEAD}preset: Pendulum-v3\n${BODY}`]: "did you mean 'Pendulum-v1'?",
  [`${HEAD}scores: { CartPole-v1: { low: 1, high: 2 } }\n${BODY}`]: "need none",
  [`algorithm: a2c\nenvironments: [CartPole-v1, Acrobot-v1]\ntrials: 1\nscores: { CartPole-v1: { low: 2, high: 2 } }\n${BODY}`]:
    "the scores of CartPole-v1: low is 2, expected less than high, 2",
  [`algorithm: a2c\nenvironments: [CartPole-v1, Acrobot-v1]\ntrials: 1\nscores: { CartPol-v1: { low: 1 } }\n${BODY}`]:
    "did you mean 'CartPole-v1'?",
  [`algorithm: a2c\nenvironments: [CartPole-v1, Acrobot-v1]\ntrials: 1\nscores: atari\n${BODY}`]:
    "none of its environments is one of the 57 games",
};

for (const [text, message] of Object.entries(BAD)) {
  Deno.test(`a plan is refused: ${message}`, async () => {
    const error = await assertRejects(() => planOf(text), Error, message);
    assertEquals(error.message.split("\n").length, 1);
  });
}

Deno.test("scores that are left out are of random actions and reward thresholds", async () => {
  const plan = await planOf(`algorithm: a2c
environments: [CartPole-v1, Acrobot-v1]
scores: { Acrobot-v1: { low: -500 } }
trials: 1
${BODY}`);
  const dir = await Deno.makeTempDir(), lines: string[] = [];
  const { signal } = new AbortController();
  const onNotice = (line: string) => void lines.push(line);
  const scores = await completeScores(plan, dir, { onNotice, signal });
  assertEquals(scores["Acrobot-v1"], { low: -500, high: -100 });
  const { low = NaN, high } = scores["CartPole-v1"];
  assertEquals([low > 15 && low < 30, high], [true, 475]);
  assertEquals(lines.length, 1);
});
