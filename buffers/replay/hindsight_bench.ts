import { testRandom } from "../testdata/random.ts";
import { Hindsight } from "./hindsight.ts";
import { ReplayBuffer } from "./replay_buffer.ts";

const capacity = 1_000_000;
const size = 256;
const goal = { shape: [3], dtype: "float32" } as const;
const flag = { shape: [], dtype: "uint8" } as const;

const buffer = new ReplayBuffer({
  capacity,
  fields: {
    observation: { shape: [25], dtype: "float32" },
    achievedGoal: goal,
    desiredGoal: goal,
    action: { shape: [4], dtype: "float32" },
    reward: { shape: [], dtype: "float32" },
    terminated: flag,
    truncated: flag,
  },
  episodes: {
    next: { nextObservation: "observation", nextAchievedGoal: "achievedGoal" },
  },
});
const step = {
  observation: new Float32Array(25),
  nextObservation: new Float32Array(25),
  achievedGoal: new Float32Array(3),
  nextAchievedGoal: new Float32Array(3),
  desiredGoal: new Float32Array(3),
  action: new Float32Array(4),
  reward: new Float32Array(1),
  terminated: new Uint8Array(1),
  truncated: new Uint8Array(1),
};
for (let i = 0; i < capacity; i++) {
  step.truncated[0] = i % 50 === 49 ? 1 : 0; // As in the Fetch environments.
  buffer.add(step);
}
const hindsight = new Hindsight(buffer, {
  reward(achieved, desired) {
    const rewards = new Float32Array(achieved.length / 3);
    for (let row = 0; row < rewards.length; row++) {
      let distance = 0;
      for (let i = 3 * row; i < 3 * row + 3; i++) {
        distance += (achieved[i] - desired[i]) ** 2;
      }
      rewards[row] = distance < 0.0025 ? 0 : -1;
    }
    return rewards;
  },
});
const random = testRandom(1);
const batch = buffer.batch(size);

Deno.bench(`sample ${size} of ${capacity}`, { baseline: true }, () => {
  buffer.sample(random, { into: batch });
});

Deno.bench(`sample ${size} of ${capacity} and relabel them`, () => {
  hindsight.relabel(buffer.sample(random, { into: batch }), random);
});
