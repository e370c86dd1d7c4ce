import { selectBackend } from "@bellman/compute";
import { SAC, type SacConfig } from "@bellman/sac";
import { assert, assertAlmostEquals } from "@std/assert";
import {
  assertIdentity,
  IDENTITIES,
  type ToyTask,
  ToyVecEnv,
} from "./toy_vec_env.ts";

const NUM_ENVS = 8;

await selectBackend("cpu");

/** Trains on a task and gives back the agent. */
function learn(
  task: ToyTask,
  { steps, config }: { steps: number; config: Partial<SacConfig> },
): { agent: SAC; env: ToyVecEnv } {
  const env = new ToyVecEnv(task, NUM_ENVS);
  const agent = new SAC(env, {
    seed: 5,
    totalTimesteps: steps * NUM_ENVS,
    config: {
      hiddenSizes: [32],
      batchSize: 64,
      bufferSize: 4000,
      learningRate: 0.01,
      initialTemperature: 1,
      ...config,
    },
  });
  let observations = env.reset();
  for (let i = 0; i < steps; i++) {
    const step = env.step(agent.act(observations));
    agent.observe(step);
    observations = step.observations;
    agent.update();
  }
  return { agent, env };
}

const FORMS: Readonly<Record<string, Partial<SacConfig>>> = {
  "two Q functions": {},
  "prioritized replay of several steps": { replay: "proportional", nSteps: 2 },
  "replay by rank": { replay: "rank" },
  "state-dependent exploration": { useSde: true },
  "value critics": { critics: "value", rewardScale: 20 },
  "value critics by likelihood ratio": {
    critics: "value",
    reparameterize: false,
    rewardScale: 20,
  },
  "a mixture": {
    critics: "value",
    policy: "mixture",
    components: 2,
    rewardScale: 20,
  },
};

for (const [name, config] of Object.entries(FORMS)) {
  Deno.test(`sac learns to say what it sees, ${name}`, () => {
    const task = IDENTITIES.box;
    const learned = learn(task, {
      steps: 500,
      config: { gamma: 0, ...config },
    });
    assertIdentity("box", learned);
  });
}

Deno.test("sac learns to say what it sees, discrete actions", () => {
  const config = { gamma: 0, targetEntropyFactor: 0.2 };
  const learned = learn(IDENTITIES.discrete, { steps: 500, config });
  assertIdentity("discrete", learned);
});

Deno.test("the learned temperature holds the entropy that is wanted", () => {
  // The reward says nothing: only the entropy is left to be had.
  const task: ToyTask = { ...IDENTITIES.discrete, reward: () => 0.5 };
  const { agent } = learn(task, {
    steps: 500,
    config: { gamma: 0, targetEntropyFactor: 0.5 },
  });
  const actor = agent.policy({ numEnvs: 400, seed: 1 });
  const counts = new Float64Array(4);
  for (const action of actor.act(new Int32Array(400))) counts[action]++;
  const entropy = counts.reduce((sum, count) => {
    const share = count / 400;
    return share === 0 ? sum : sum - share * Math.log(share);
  }, 0);
  assert(entropy > 0.4 * Math.log(4), `entropy ${entropy}`);
  agent.close();
});

/** A reward of 1 in each step of an episode: values are those of a chain. */
const CHAIN = (ends: ToyTask["ends"]): ToyTask => ({
  observationSpace: { type: "discrete", n: 3 },
  actionSpace: { type: "box", shape: [1], low: -1, high: 1, dtype: "float32" },
  length: 3,
  ends,
  observation: (time) => time % 3,
  reward: () => 1,
});

for (const nSteps of [1, 3]) {
  Deno.test(`values of a chain that ends or is cut, returns of ${nSteps}`, () => {
    const valuesOf = (ends: ToyTask["ends"]) => {
      const { agent } = learn(CHAIN(ends), {
        steps: 600,
        config: { gamma: 0.5, temperature: 0, nSteps, tau: 0.05 },
      });
      const values = [0, 1, 2].map((at) => agent.qValues([at], [0])[0]);
      agent.close();
      return values;
    };
    const [first, second, third] = valuesOf("terminated");
    assertAlmostEquals(third, 1, 0.1);
    assertAlmostEquals(second, 1.5, 0.1);
    assertAlmostEquals(first, 1.75, 0.1);
    // Cut, it would have gone round for ever.
    for (const value of valuesOf("truncated")) {
      assertAlmostEquals(value, 2, 0.2);
    }
  });
}

/** Soft values of the chain, first state first, where each has an entropy. */
function softChain(
  ends: ToyTask["ends"],
  { gamma, worth }: { gamma: number; worth: number },
): number[] {
  const endless = (1 + gamma * worth) / (1 - gamma);
  if (ends === "truncated") return [endless, endless, endless];
  const values = [1];
  while (values.length < 3) values.unshift(1 + gamma * (values[0] + worth));
  return values;
}

const ENTROPIES: Readonly<Record<string, [Partial<SacConfig>, number]>> = {
  "discrete actions": [{}, Math.log(4)],
  "two Q functions": [{}, Math.log(2)],
  "value critics": [{ critics: "value" }, Math.log(2)],
};

for (const [name, [config, entropy]] of Object.entries(ENTROPIES)) {
  for (const nSteps of [1, 3]) {
    Deno.test(`returns of ${nSteps} count the entropy of every state, ${name}`, () => {
      const isValue = config.critics === "value";
      const alpha = isValue ? 1 : 0.8, gamma = 0.5;
      for (const ends of ["terminated", "truncated"] as const) {
        const task = name === "discrete actions"
          ? { ...CHAIN(ends), actionSpace: IDENTITIES.discrete.actionSpace }
          : CHAIN(ends);
        const { agent } = learn(task, {
          steps: 500,
          config: {
            ...config,
            gamma,
            nSteps,
            tau: 0.05,
            policyRegularization: 0,
            ...(!isValue && { temperature: alpha }),
          },
        });
        const wanted = softChain(ends, { gamma, worth: alpha * entropy });
        wanted.forEach((value, at) =>
          assertAlmostEquals(agent.qValues([at], [0])[0], value, 0.1)
        );
        agent.close();
      }
    });
  }
}

/** One state, actions of unlike rewards, episodes that a limit cuts. */
const ONE_STATE: ToyTask = {
  observationSpace: { type: "discrete", n: 1 },
  actionSpace: { type: "discrete", n: 2 },
  length: 5,
  ends: "truncated",
  observation: () => 0,
  reward: (_, action) => action[0],
};

Deno.test("one state is worth alpha logsumexp(r / alpha) / (1 - gamma), whatever nSteps", () => {
  const gamma = 0.7, temperature = 0.8;
  const soft = temperature * Math.log(1 + Math.exp(1 / temperature));
  const value = soft / (1 - gamma);
  const valuesFor = (config: Partial<SacConfig>) => {
    const { agent } = learn(ONE_STATE, {
      steps: 800,
      config: { gamma, temperature, tau: 0.05, bufferSize: 800, ...config },
    });
    const values = agent.qValues([0], []);
    agent.close();
    return values;
  };
  for (const nSteps of [1, 2, 4]) {
    const values = valuesFor({ nSteps });
    [0, 1].forEach((reward) =>
      assertAlmostEquals(values[reward], reward + gamma * value, 0.15)
    );
  }
  // The other form leaves entropies out, and says so little.
  const [, best] = valuesFor({ nSteps: 4, nStepEntropy: "last" });
  assert(best < 1 + gamma * value - 0.5, `${best}`);
});
