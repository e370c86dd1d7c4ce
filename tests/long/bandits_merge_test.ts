/** Several processes that merge what they learn have about the regret of one. */
import { Bandit, linear, thompson } from "@bellman/bandits";
import { RandomStream, seedWords } from "@bellman/random";
import { assert } from "@std/assert";

const ROUNDS = 2000, SEEDS = 20;

/** Regret of clicks on five actions that processes decide in turn. */
function regret(seed: number, processes: number, every: number): number {
  const random = new RandomStream(seedWords(seed));
  const draw = () => [1, ...Array.from({ length: 7 }, () => random.normal())];
  const weights = Array.from({ length: 5 }, draw);
  const bandits = Array.from(
    { length: processes },
    (_, i) =>
      new Bandit<number, number[]>({
        actions: [...weights.keys()],
        features: (it) => it,
        model: linear(),
        explore: thompson(),
        seed: 100 * seed + i,
      }),
  );
  let total = 0, base = bandits[0].save();
  for (let i = 0; i < ROUNDS; i++) {
    const context = draw();
    const chances = weights.map((it) =>
      1 / (1 + Math.exp(-it.reduce((sum, w, k) => sum + w * context[k], 0)))
    );
    const bandit = bandits[i % processes];
    const { id, action } = bandit.decide(context);
    bandit.reward(id, Number(random.uniform() < chances[action]));
    total += Math.max(...chances) - chances[action];
    if (processes === 1 || (i + 1) % every > 0) continue;
    const states = bandits.map((it) => it.save());
    bandits.forEach((it, k) => it.merge(states.toSpliced(k, 1), { base }));
    base = bandits[0].save();
  }
  return total;
}

function meanRegret(processes: number, every: number): number {
  let sum = 0;
  for (let i = 0; i < SEEDS; i++) sum += regret(i, processes, every);
  return sum / SEEDS;
}

Deno.test("three processes that merge every 100 decisions cost at most 15 % more", () => {
  const one = meanRegret(1, ROUNDS), merged = meanRegret(3, 100);
  const apart = meanRegret(3, Infinity);
  assert(merged < 1.15 * one, `${merged}, one ${one}`);
  assert(apart > 1.4 * one, `${apart}, one ${one}`);
});
