// deno-lint-ignore-file no-console -- a program that prints
/**
 * Microseconds of decisions and updates of contextual bandits, as mabwiser_bandits.py
 * prints them for MABWiser: JSON.
 */
import {
  Bandit,
  type Exploration,
  linear,
  squareCB,
  thompson,
  upperConfidence,
} from "@bellman/bandits";
import { RandomStream, seedWords } from "@bellman/random";

interface Size {
  d: number;
  actions: number;
}

/** Measures what one call takes, in us: the fastest of 40 runs of 25 ms, or one call. */
function microseconds(call: () => void): number {
  const time = (calls: number) => {
    const started = performance.now();
    for (let i = 0; i < calls; i++) call();
    return 1000 * (performance.now() - started) / calls;
  };
  time(3);
  const calls = Math.max(1, Math.floor(25_000 / time(1)));
  return Math.min(...Array.from({ length: 40 }, () => time(calls)));
}

function measure({ d, actions }: Size): Record<string, number> {
  const random = new RandomStream(seedWords(0));
  const draw = () => {
    const x = Array.from({ length: d }, () => random.normal());
    return [1, ...x.slice(1)];
  };
  const contexts = Array.from({ length: 500 }, draw);
  const weights = Array.from({ length: actions }, draw);
  const rewardOf = (x: number[], action: number) =>
    x.reduce((sum, it, i) => sum + it * weights[action][i], 0) / Math.sqrt(d) +
    0.5 * random.normal();
  const rows = Math.max(2000, 5 * actions);
  const make = (explore: Exploration) => {
    const bandit = new Bandit<number, number[]>({
      actions: Array.from({ length: actions }, (_, i) => i),
      features: (context) => context,
      model: linear(),
      explore,
    });
    for (let i = 0; i < rows; i++) {
      const context = contexts[i % contexts.length], action = i % actions;
      bandit.learn({ context, action, reward: rewardOf(context, action) });
    }
    return bandit;
  };
  let at = 0;
  const next = () => contexts[at++ % contexts.length];
  const found: Record<string, number> = {};
  const rules = {
    ucb: upperConfidence(),
    thompson: thompson(),
    squareCB: squareCB(),
  };
  for (const [name, explore] of Object.entries(rules)) {
    const bandit = make(explore);
    found[name] = microseconds(() => bandit.decide(next()));
    if (name !== "ucb") continue;
    found.update = microseconds(() =>
      bandit.learn({ context: next(), action: at % actions, reward: 1 })
    );
  }
  return found;
}

const { sizes } = JSON.parse(Deno.args[0]) as { sizes: Size[] };
const figures = sizes.map((it) => [`${it.d}x${it.actions}`, measure(it)]);
console.log(JSON.stringify(Object.fromEntries(figures)));
