// deno-lint-ignore-file no-console -- a program that prints
/** Microseconds of drawing 256 of a million steps of Reach-v0, uniformly and with hindsight. */
import { Hindsight, ReplayBuffer } from "@bellman/buffers";
import { RandomStream } from "@bellman/compute";
import { GoalVecEnv, REACH } from "@bellman/envs";
import { medianMs } from "./median_ms.ts";

const CAPACITY = 1_000_000, ENVS = 8, BATCH = 256, EPISODE = 50;
const task = { runs: 15, calls: 2000, seed: 0, ...JSON.parse(Deno.args[0]) };

const env = new GoalVecEnv(REACH, { numEnvs: ENVS, maxEpisodeSteps: EPISODE });
const two = { shape: [2], dtype: "float32" } as const;
const flag = { shape: [], dtype: "uint8" } as const;
const PARTS = ["observation", "achieved_goal", "desired_goal"];
const named = (prefix: string, of: (part: string) => unknown) =>
  Object.fromEntries(PARTS.map((part) => [`${prefix}.${part}`, of(part)]));
const buffer = new ReplayBuffer({
  capacity: CAPACITY,
  numEnvs: ENVS,
  fields: {
    ...named("observation", () => two) as Record<string, typeof two>,
    action: two,
    reward: { shape: [], dtype: "float32" },
    terminated: flag,
    truncated: flag,
  },
  episodes: {
    next: named("next", (part) => `observation.${part}`) as Record<
      string,
      string
    >,
  },
});
const random = new RandomStream(task.seed);
type Parts = Record<string, Float32Array>;
let now = structuredClone(env.reset({ seed: task.seed })) as Parts;
const action = new Float32Array(2 * ENVS);
for (let i = 0; i < CAPACITY / ENVS; i++) {
  random.fillUniform(action).forEach((it, k) => action[k] = 2 * it - 1);
  const step = env.step(action);
  // All episodes end at once, by their time limit.
  const seen = step.observations as Parts;
  const next = step.truncated[0] ? step.finalObservations as Parts : seen;
  buffer.add(
    {
      ...named("observation", (part) => now[part]),
      ...named("next", (part) => next[part]),
      action,
      reward: Float32Array.from(step.rewards),
      terminated: step.terminated,
      truncated: step.truncated,
    } as Parameters<typeof buffer.add>[0],
  );
  now = structuredClone(seen);
}
const goals = new Hindsight(buffer, {
  reward: (...goals) => env.computeReward(...goals),
  achieved: "next.achieved_goal",
  desired: ["observation.desired_goal", "next.desired_goal"],
});
const into = buffer.batch(BATCH);
const us = (call: () => void) => 1000 * medianMs(call, task);
console.log(JSON.stringify({
  uniform_us: us(() => buffer.sample(random, { into })),
  sample_us: us(() => {
    buffer.sample(random, { into });
    goals.relabel(into, random);
  }),
}));
