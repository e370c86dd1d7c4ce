import type { SacConfig } from "@bellman/sac";
import type { SacV1Config } from "@bellman/sac-v1";
import { assert, assertAlmostEquals } from "@std/assert";
import { learn, valuesOf } from "./testdata/learn.ts";
import { chainOf, IDENTITIES, type ToyTask } from "./toy_vec_env.ts";

Deno.test("the learned temperature holds the entropy that is wanted", async () => {
  // The reward says nothing: only the entropy is left to be had.
  const task: ToyTask = { ...IDENTITIES.discrete, reward: () => 0.5 };
  const { agent } = await learn("sac", task, {
    updates: 500,
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

/** Algorithms, settings, and entropies of a policy that is uniform. */
const ENTROPIES: Readonly<
  Record<string, [string, Partial<SacConfig & SacV1Config>, number]>
> = {
  "discrete actions": ["sac", { temperature: 0.8 }, Math.log(4)],
  "two Q functions": ["sac", { temperature: 0.8 }, Math.log(2)],
  "tqc": ["sac", { method: "tqc", temperature: 0.8 }, Math.log(2)],
  "crossq": ["sac", { method: "crossq", temperature: 0.8 }, Math.log(2)],
  "redq": [
    "sac",
    { method: "redq", temperature: 0.8, numCritics: 4, gradientSteps: 1 },
    Math.log(2),
  ],
  "droq": [
    "sac",
    { method: "droq", temperature: 0.8, gradientSteps: 1 },
    Math.log(2),
  ],
  "discrete actions, redq": [
    "sac",
    { method: "redq", temperature: 0.8, gradientSteps: 1, policyDelay: 2 },
    Math.log(4),
  ],
  "a V function": [
    "sac-v1",
    { rewardScale: 1, policyRegularization: 0 },
    Math.log(2),
  ],
};

for (const [name, [algorithm, config, entropy]] of Object.entries(ENTROPIES)) {
  for (const nSteps of [1, 3]) {
    Deno.test(`returns of ${nSteps} count the entropy of every state, ${name}`, async () => {
      const { temperature: alpha = 1 } = config, gamma = 0.5;
      for (const ends of ["terminated", "truncated"] as const) {
        const task = name.startsWith("discrete actions")
          ? { ...chainOf(ends), actionSpace: IDENTITIES.discrete.actionSpace }
          : { ...chainOf(ends), actionSpace: IDENTITIES.box.actionSpace };
        const { agent } = await learn(algorithm, task, {
          updates: 500,
          config: { ...config, gamma, nSteps, tau: 0.05 },
        });
        const worth = (alpha ?? 1) * entropy;
        const wanted = softChain(ends, { gamma, worth });
        wanted.forEach((value, at) =>
          assertAlmostEquals(valuesOf(agent)[at], value, 0.1)
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

Deno.test("one state is worth alpha logsumexp(r / alpha) / (1 - gamma), whatever nSteps", async () => {
  const gamma = 0.7, temperature = 0.8;
  const soft = temperature * Math.log(1 + Math.exp(1 / temperature));
  const value = soft / (1 - gamma);
  const valuesFor = async (config: Partial<SacConfig>) => {
    const { agent } = await learn("sac", ONE_STATE, {
      updates: 800,
      config: { gamma, temperature, tau: 0.05, bufferSize: 800, ...config },
    });
    const values = agent.qValues!([0], []);
    agent.close();
    return values;
  };
  for (const nSteps of [1, 2, 4]) {
    const values = await valuesFor({ nSteps });
    [0, 1].forEach((reward) =>
      assertAlmostEquals(values[reward], reward + gamma * value, 0.15)
    );
  }
  // The other form leaves entropies out, and says so little.
  const [, best] = await valuesFor({ nSteps: 4, nStepEntropy: "last" });
  assert(best < 1 + gamma * value - 0.5, `${best}`);
});
