import {
  arms,
  Bandit,
  epsilonGreedy,
  type Exploration,
  linear,
  type Model,
  softmax,
  squareCB,
  thompson,
  upperConfidence,
} from "@bellman/bandits";
import {
  betaChances,
  normalChances,
} from "../../bandits/models/best_chances.ts";
import {
  checkEach,
  type Comparison,
  type Expected,
  type FixtureRunner,
} from "./comparison.ts";

/** A step's scores, before it is learned. */
type Scores = Readonly<Record<string, Expected>>;

interface Inputs {
  contexts?: number[][] | number[][][];
  action_features?: number[][][];
  actions: number[];
  rewards: number[];
  allowed?: number[][];
  normals?: number[][];
  joint_normals?: number[][];
}

interface Case {
  kind: string;
  hparams: Readonly<Record<string, number>> & { precision?: string };
  inputs: Inputs;
  expected: { steps: Scores[]; final?: Scores };
}

const UCB1 = (total: number) => Math.sqrt(2 * Math.log(Math.max(total, 1)));

/** Tolerance of chances, which are integrals. */
const CHANCES = { tolerance: 1e-8 };

/** Bandits of one model that learn the same, each with its exploration. */
class Bandits {
  readonly #bandits = new Map<string, Bandit<number, unknown>>();
  readonly #count: number;
  readonly #features?: (context: unknown, action: number) => number[];

  constructor(
    count: number,
    features?: (context: unknown, action: number) => number[],
  ) {
    this.#count = count;
    this.#features = features;
  }

  add(name: string, model: Model, explore: Exploration): void {
    const bandit = new Bandit<number, unknown>({
      actions: Array.from({ length: this.#count }, (_, i) => i),
      ...(model.name === "linear" ? { features: this.#features } : {}),
      model,
      explore,
    });
    this.#bandits.set(name, bandit);
  }

  of(name: string): Bandit<number, unknown> {
    return this.#bandits.get(name)!;
  }

  /** Chances of the bandit of each name, over the allowed actions. */
  compare(
    names: readonly string[],
    [context, mask]: readonly [unknown, number[] | undefined],
    [scores, comparison]: readonly [Scores, Comparison],
  ): void {
    const allowed = mask?.flatMap((it, i) => it ? [i] : []);
    for (const name of names) {
      if (!(name in scores)) continue;
      const chances = this.of(name).chances(context, { allowed });
      const options = name.includes("propensities") ? CHANCES : {};
      comparison.numbers(name, chances, scores[name], options);
    }
  }

  learn(context: unknown, action: number, reward: number): void {
    for (const it of this.#bandits.values()) {
      it.learn({ context, action, reward });
    }
  }
}

/** Compares that a bandit takes the largest of the allowed scores. */
function compareChoice(
  bandit: Bandit<number, unknown>,
  [context, mask]: readonly [unknown, number[] | undefined],
  [scores, comparison]: readonly [number[], Comparison],
): void {
  const allowed = scores.flatMap((_, i) =>
    mask === undefined || mask[i] ? [i] : []
  );
  const chances = bandit.chances(context, { allowed });
  const most = Math.max(...allowed.map((i) => scores[i]));
  comparison.that("choice of ucb", scores[chances.indexOf(1)] >= most - 1e-9);
}

function plain({ hparams, inputs, expected }: Case, comparison: Comparison) {
  const { discount, epsilon, temperature, gamma } = hparams;
  const { actions, rewards, allowed } = inputs;
  const first = expected.steps[0];
  const isBinary = "beta" in first;
  const bandits = new Bandits((first.mean as number[]).length);
  const means = arms({ lambda: 0, noise: 1, discount });
  bandits.add("epsilon_greedy", means, epsilonGreedy(epsilon));
  bandits.add("softmax", means, softmax(temperature));
  bandits.add("squarecb", means, squareCB({ gamma: () => gamma }));
  bandits.add("ucb1", means, upperConfidence({ alpha: UCB1 }));
  if (isBinary) {
    bandits.add(
      "beta_propensities",
      arms({ beta: true, discount }),
      thompson({ alpha: 1 }),
    );
  }
  const noise = Math.sqrt(hparams.noise_variance);
  const lambda = hparams.noise_variance / hparams.prior_variance;
  const normal = arms({ lambda, noise, discount });
  bandits.add("normal_propensities", normal, thompson({ alpha: 1 }));
  expected.steps.forEach((scores, t) => {
    const mask = allowed?.[t];
    const { means, deviations } = bandits.of("ucb1").predict(undefined);
    comparison.numbers("mean", means, scores.mean);
    comparison.numbers("count", deviations.map((it) => it ** -2), scores.count);
    const total = scores.count as number[];
    const alpha = UCB1(total.reduce((a, b) => a + b, 0));
    const bounds = means.map((it, i) =>
      deviations[i] === Infinity ? Infinity : it + alpha * deviations[i]
    );
    comparison.numbers("ucb1", bounds, scores.ucb1);
    const ucb1 = (scores.ucb1 as Expected[]).map(Number);
    const at = [undefined, mask] as const;
    compareChoice(bandits.of("ucb1"), at, [ucb1, comparison]);
    const found = bandits.of("normal_propensities").predict(undefined);
    const [mean, variance] = scores.normal as number[][];
    comparison.numbers("normal mean", found.means, mean);
    comparison.numbers(
      "variance",
      found.deviations.map((it) => it ** 2),
      variance,
    );
    if (isBinary) {
      const [a, b] = scores.beta as number[][];
      const found = bandits.of("beta_propensities").predict(undefined);
      const sum = a.map((it, i) => it + b[i]);
      comparison.numbers("beta", found.means, a.map((it, i) => it / sum[i]));
      comparison.numbers(
        "deviation of beta",
        found.deviations,
        a.map((it, i) => Math.sqrt(it * b[i] / (sum[i] ** 2 * (sum[i] + 1)))),
      );
    }
    bandits.compare(
      [
        "epsilon_greedy",
        "softmax",
        "squarecb",
        "beta_propensities",
        "normal_propensities",
      ],
      at,
      [scores, comparison],
    );
    bandits.learn(undefined, actions[t], rewards[t]);
  });
}

/** Scores that are drawn with given normal numbers. */
function drawn(
  { means, deviations }: { means: Float64Array; deviations: Float64Array },
  normals: number[],
): Float64Array {
  return means.map((it, i) => it + deviations[i] * normals[i]);
}

interface SavedRegression {
  gram: Float64Array;
  moment: Float64Array;
}

/** Sums of a bandit: its whole Gram matrices and moments, one after the other. */
function sumsOf(bandit: Bandit<number, unknown>): SavedRegression[] {
  const { ridge } = bandit.save() as unknown as {
    ridge: { regressions: (SavedRegression | null)[] };
  };
  const d = ridge.regressions.find((it) => it)?.moment.length ?? 0;
  const at = (i: number, j: number) =>
    i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
  return ridge.regressions.map((it) => ({
    gram: Float64Array.from(
      { length: d * d },
      (_, k) => it?.gram[at(Math.floor(k / d), k % d)] ?? 0,
    ),
    moment: it?.moment ?? new Float64Array(d),
  }));
}

/** Adds the prior's precision to Gram matrices. */
function withPrior(sums: readonly SavedRegression[], lambda: number): number[] {
  return sums.flatMap(({ gram, moment: { length: d } }) =>
    Array.from(gram, (it, k) => it + (k % (d + 1) === 0 ? lambda : 0))
  );
}

function linearCase(it: Case, comparison: Comparison) {
  const { kind, hparams, inputs, expected } = it;
  const { alpha, epsilon, gamma, lambda, discount } = hparams;
  const { actions, rewards, allowed, normals } = inputs;
  const contexts = inputs.contexts as number[][];
  const shared = kind !== "linear_disjoint";
  const count = (expected.steps[0].mean as number[]).length;
  const bandits = new Bandits(
    count,
    shared
      ? (context, action) => (context as number[][])[action]
      : (context) => context as number[],
  );
  const window = hparams.window ?? undefined;
  const model = linear({
    lambda,
    noise: 1,
    shared,
    ...(window === undefined ? { discount } : { window }),
  });
  bandits.add("ucb", model, upperConfidence({ alpha }));
  bandits.add("epsilon_greedy", model, epsilonGreedy(epsilon ?? 0.1));
  bandits.add("squarecb", model, squareCB({ gamma: () => gamma ?? 20 }));
  bandits.add("propensities", model, thompson({ alpha }));
  bandits.add("noise", linear({ lambda, shared }), thompson({ alpha: 1 }));
  expected.steps.forEach((scores, t) => {
    const context = kind === "linear_hybrid" ? hybrid(inputs, t) : contexts[t];
    const mask = allowed?.[t];
    const found = bandits.of("ucb").predict(context);
    const deviations = found.deviations.map((it) => alpha * it);
    comparison.numbers("mean", found.means, scores.mean);
    comparison.numbers("width", found.deviations, scores.width);
    const ucb = drawn({ ...found, deviations }, Array(count).fill(1));
    comparison.numbers("ucb", ucb, scores.ucb);
    const at = [context, mask] as const;
    compareChoice(bandits.of("ucb"), at, [scores.ucb as number[], comparison]);
    if ("draws" in scores) {
      const draws = drawn({ ...found, deviations }, normals![t]);
      comparison.numbers("draws", draws, scores.draws);
    }
    if ("noise" in scores) {
      const wide = bandits.of("noise").predict(context).deviations;
      const noise = wide.map((it, i) => it / found.deviations[i]);
      comparison.numbers("noise", noise, Array(count).fill(scores.noise));
    }
    bandits.compare(
      ["epsilon_greedy", "squarecb", "propensities"],
      at,
      [scores, comparison],
    );
    bandits.learn(context, actions[t], rewards[t]);
  });
  if (expected.final === undefined) return;
  const sums = sumsOf(bandits.of("ucb"));
  comparison.numbers(
    "gram",
    sums.flatMap((it) => [...it.gram]),
    expected.final.gram,
  );
  comparison.numbers(
    "moment",
    sums.flatMap((it) => [...it.moment]),
    expected.final.moment,
  );
}

/** Features of one ridge regression that is the hybrid model: `[z, 0.., x, ..0]`. */
function hybrid({ contexts, action_features }: Inputs, t: number): number[][] {
  const x = contexts![t] as number[];
  return action_features![t].map((z, action) => [
    ...z,
    ...action_features![t].flatMap((_, i) =>
      x.map((it) => i === action ? it : 0)
    ),
  ]);
}

function logistic({ hparams, inputs, expected }: Case, comparison: Comparison) {
  const { lambda, alpha, precision } = hparams;
  // One number for each weight instead of a matrix is not offered.
  if (precision === "diagonal") return;
  const { actions, rewards, normals } = inputs;
  const contexts = inputs.contexts as number[][];
  const bandits = new Bandits(
    (expected.steps[0].mean as number[]).length,
    (context) => context as number[],
  );
  const model = linear({ lambda, logistic: true });
  bandits.add("propensities", model, thompson({ alpha }));
  expected.steps.forEach((scores, t) => {
    const context = contexts[t];
    const { means, deviations } = bandits.of("propensities").predict(context);
    const logits = means.map((it) => Math.log(it / (1 - it)));
    comparison.numbers("mean", means, scores.mean);
    comparison.numbers("logit", logits, scores.logit);
    comparison.numbers("width", deviations, scores.width);
    const draws = logits.map((it, i) =>
      1 / (1 + Math.exp(-it - alpha * deviations[i] * normals![t][i]))
    );
    comparison.numbers("draws", draws, scores.draws);
    bandits.compare(["propensities"], [context, undefined], [
      scores,
      comparison,
    ]);
    bandits.learn(context, actions[t], rewards[t]);
  });
  const sums = sumsOf(bandits.of("propensities"));
  const found = withPrior(sums, lambda);
  comparison.numbers("precision", found, expected.final!.precision);
}

interface MergeCase {
  hparams: { lambda: number };
  inputs: {
    contexts: number[][][];
    actions: number[][];
    rewards: number[][];
    queries: number[][];
  };
  expected: {
    gram: Expected;
    moment: Expected;
    mean: number[][];
    width: number[][];
  };
}

function merge(
  { hparams, inputs, expected }: MergeCase,
  comparison: Comparison,
) {
  const { lambda } = hparams, { contexts, actions, rewards, queries } = inputs;
  const make = () =>
    new Bandit<number, number[]>({
      actions: expected.mean[0].map((_, i) => i),
      features: (context) => context,
      model: linear({ lambda, noise: 1 }),
      explore: thompson({ alpha: 1 }),
    });
  const learn = (bandit: Bandit<number, number[]>, part: number) => {
    actions[part].forEach((action, i) =>
      bandit.learn({
        context: contexts[part][i],
        action,
        reward: rewards[part][i],
      })
    );
    return bandit;
  };
  const base = learn(make(), 0).save();
  const [here, there] = [1, 2].map((part) => {
    const bandit = make();
    bandit.load(base);
    return learn(bandit, part);
  });
  here.merge([there.save()], { base });
  const sums = sumsOf(here as Bandit<number, unknown>);
  comparison.numbers("gram", sums.flatMap((it) => [...it.gram]), expected.gram);
  comparison.numbers(
    "moment",
    sums.flatMap((it) => [...it.moment]),
    expected.moment,
  );
  queries.forEach((query, i) => {
    const { means, deviations } = here.predict(query);
    comparison.numbers("mean", means, expected.mean[i]);
    comparison.numbers("width", deviations, expected.width[i]);
  });
}

interface ChanceSet {
  kind: "normal" | "beta";
  mean: number[];
  deviation: number[];
  alpha: number[];
  beta: number[];
  propensities: number[];
}

function propensities({ sets }: { sets: ChanceSet[] }, comparison: Comparison) {
  for (const it of sets) {
    const found = it.kind === "normal"
      ? normalChances(
        Float64Array.from(it.mean),
        Float64Array.from(it.deviation),
      )
      : betaChances(Float64Array.from(it.alpha), Float64Array.from(it.beta));
    comparison.numbers(it.kind, found, it.propensities, CHANCES);
  }
}

const KINDS: Readonly<Record<string, FixtureRunner>> = {
  plain,
  linear_disjoint: linearCase,
  linear_shared: linearCase,
  linear_hybrid: linearCase,
  logistic,
  merge,
  propensities,
};

/** Contextual bandits: models, explorations and their chances. */
export const runner = checkEach({
  cases: (it, ...rest) => KINDS[it.kind](it, ...rest),
}, 1e-9);
