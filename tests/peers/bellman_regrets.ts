// deno-lint-ignore-file no-console -- a program that prints
/**
 * Totals on the problems of bandit_problems.py, as mabwiser_regrets.py prints them: JSON.
 * LinUCB learns the first row with the first action, as MABWiser's does.
 */
import {
  Bandit,
  type Exploration,
  linear,
  type Model,
  squareCB,
  thompson,
  upperConfidence,
} from "@bellman/bandits";

interface Problem {
  contexts: number[][];
  rewards: number[][];
  scores: number[][];
}

const METHODS: Readonly<Record<string, readonly [Model, Exploration]>> = {
  "thompson 1": [linear(), thompson({ alpha: 1 })],
  "thompson 0.5": [linear(), thompson({ alpha: 0.5 })],
  "UCB 1": [linear(), upperConfidence({ alpha: 1 })],
  "squareCB 10": [linear(), squareCB({ gamma: 10 })],
  "logistic thompson 0.5": [
    linear({ logistic: true }),
    thompson({ alpha: 0.5 }),
  ],
  "thompson 1, noise 1": [linear({ noise: 1 }), thompson({ alpha: 1 })],
  "LinUCB 0.25": [linear({ noise: 1 }), upperConfidence({ alpha: 0.25 })],
};

function run(
  { contexts, rewards, scores }: Problem,
  [model, explore]: readonly [Model, Exploration],
  seed: number,
): number {
  const bandit = new Bandit<number, number[]>({
    actions: rewards[0].map((_, i) => i),
    features: (context) => context,
    model,
    explore,
    seed,
  });
  return contexts.reduce((total, context, t) => {
    const { id, action } = bandit.decide(context);
    bandit.reward(id, rewards[t][action]);
    return total + scores[t][action];
  }, 0);
}

function statistics(totals: number[]) {
  const mean = totals.reduce((a, b) => a + b, 0) / totals.length;
  const squares = totals.reduce((sum, it) => sum + (it - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / (totals.length - 1));
  return { mean, deviation, totals };
}

const python = Deno.env.get("BELLMAN_PYTHON")!;
const program = new URL("bandit_problems.py", import.meta.url).pathname;
const { stdout } = await new Deno.Command(python, { args: [program] }).output();
const problems: Record<string, Problem[]> = JSON.parse(
  new TextDecoder().decode(stdout),
);
const found = Object.entries(problems).map(([name, seeds]) => {
  const methods = Object.entries(METHODS)
    .filter(([method]) => name !== "linear" || !method.startsWith("logistic"));
  return [
    name,
    Object.fromEntries(methods.map(([method, it]) => [
      method,
      statistics(seeds.map((problem, seed) => run(problem, it, seed))),
    ])),
  ];
});
console.log(JSON.stringify(Object.fromEntries(found)));
