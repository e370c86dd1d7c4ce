import {
  Bandit,
  crossFit,
  type DsjsonDecision,
  evaluate,
  type Evaluation,
  type EvaluationRow,
  linear,
  parseDsjson,
  replay,
  upperConfidence,
} from "@bellman/bandits";
import {
  checkEach,
  type Comparison,
  type Expected,
  type FixtureRunner,
} from "./comparison.ts";

interface EstimateCase {
  value: number | null;
  standardError?: number;
  interval?: number[];
  bootstrap?: number[];
}

interface Outcome {
  predicted?: number[][];
  estimates: Readonly<Record<string, EstimateCase>>;
  diagnostics: Readonly<Record<string, number>>;
}

interface LogInputs {
  contexts: number[][];
  actions: number[];
  rewards: number[];
  propensities: number[];
  target: number[][];
  predicted: number[][];
  indices: number[][];
}

interface LogCase {
  hparams: { lambda: number; folds: number };
  lambdas: { ips_clipped: number; switch_dr: number; dros: number };
  inputs: LogInputs;
  expected: Outcome;
}

/** Our names of the estimators. */
const NAMES: Readonly<Record<string, keyof Evaluation["estimates"]>> = {
  ips: "ips",
  ips_clipped: "clipped",
  snips: "snips",
  dm: "dm",
  dr: "dr",
  sndr: "sndr",
  switch_dr: "switchDr",
  dros: "shrinkage",
};

function rowsOf(inputs: LogInputs): EvaluationRow[] {
  const { actions, rewards, propensities, target, predicted } = inputs;
  return actions.map((action, i) => ({
    action,
    reward: rewards[i],
    propensity: propensities[i],
    target: target[i],
    ...(predicted === undefined ? {} : { predicted: predicted[i] }),
  }));
}

function compareEvaluation(
  rows: readonly EvaluationRow[],
  { lambdas, expected, indices = [] }: Pick<LogCase, "lambdas" | "expected"> & {
    indices?: number[][];
  },
  comparison: Comparison,
): void {
  const { ips_clipped: clip, switch_dr: switchAt, dros: shrinkage } = lambdas;
  const options = { clip, switchAt, shrinkage };
  const found = evaluate(rows, options);
  const random = indices.map((runs) => ({ runs }));
  const resampled = random.length === 0
    ? undefined
    : evaluate(rows, { ...options, bootstrap: { random } });
  for (const [name, wanted] of Object.entries(expected.estimates)) {
    const it = found.estimates[NAMES[name]]!;
    if (wanted.value === null) comparison.that(name, it.value === null);
    else comparison.numbers(name, it.value!, wanted.value);
    const { standardError, interval, bootstrap } = wanted;
    if (standardError !== undefined) {
      comparison.numbers(`${name} error`, it.standardError!, standardError);
    }
    if (interval !== undefined) {
      comparison.numbers(`${name} interval`, it.interval!, interval);
    }
    if (bootstrap !== undefined) {
      const { interval } = resampled!.estimates[NAMES[name]]!;
      comparison.numbers(`${name} bootstrap`, interval!, bootstrap);
    }
  }
  const { diagnostics } = expected;
  const { effectiveSampleSize, meanWeight, maxWeight, warnings } = found;
  comparison.named(
    { effectiveSampleSize, meanWeight, maxWeight },
    diagnostics,
  );
  const isOff =
    Math.abs(meanWeight - 1) > 3 * diagnostics.meanWeightStandardError;
  comparison.that(
    "the warning of the mean weight",
    warnings.some((it) => it.includes("mean weight")) === isOff,
  );
  comparison.that(
    "the warning of no overlap",
    warnings.some((it) => it.includes("says nothing")) === (maxWeight === 0),
  );
}

function log({ inputs, ...rest }: LogCase, comparison: Comparison): void {
  const { indices } = inputs;
  compareEvaluation(rowsOf(inputs), { ...rest, indices }, comparison);
}

function ridge({ inputs, hparams, ...rest }: LogCase, comparison: Comparison) {
  const rows = rowsOf(inputs)
    .map((row, i) => ({ ...row, features: inputs.contexts[i] }));
  const { lambda, folds } = hparams;
  const fitted = crossFit(rows, linear({ lambda }), { folds });
  const found = fitted.flatMap(({ predicted }) => [...predicted]);
  comparison.numbers("predicted", found, rest.expected.predicted!);
  compareEvaluation(fitted, rest, comparison);
}

interface ReplayCase {
  inputs: {
    contexts: number[][];
    actions: number[];
    rewards: number[];
    choices: number[];
  };
  expected: Readonly<Record<string, number>>;
}

/** Logged decisions of equal chances. */
function uniformLog<C>(
  { actions, rewards }: ReplayCase["inputs"],
  [count, context]: readonly [number, (row: number) => C],
) {
  return actions.map((action, i) => ({
    context: context(i),
    action,
    reward: rewards[i],
    propensity: 1 / count,
  }));
}

function replayChoices(
  { inputs, expected }: ReplayCase,
  comparison: Comparison,
) {
  const { choices } = inputs, count = Math.max(...choices) + 1;
  const actions = Array.from({ length: count }, (_, i) => i);
  const found = replay(uniformLog(inputs, [count, (i) => i]), {
    actions,
    chances: (row) => actions.map((it) => it === choices[row] ? 1 : 0),
    learn: () => {},
  });
  const { value, matched, standardError } = found;
  comparison.named(
    { value: value!, matched, standardError: standardError! },
    expected,
  );
}

function replayLinUcb(
  { inputs, hparams, expected }: ReplayCase & {
    hparams: { alpha: number; lambda: number };
  },
  comparison: Comparison,
) {
  const count = Math.max(...inputs.actions) + 1;
  const bandit = new Bandit<number, number[]>({
    actions: Array.from({ length: count }, (_, i) => i),
    features: (it) => it,
    model: linear({ lambda: hparams.lambda, noise: 1 }),
    explore: upperConfidence({ alpha: hparams.alpha }),
  });
  const choices: number[] = [];
  const { value, matched } = replay(
    uniformLog(inputs, [count, (i) => inputs.contexts[i]]),
    {
      actions: bandit.actions,
      chances: (context) => {
        const chances = bandit.chances(context);
        choices.push(chances.indexOf(1));
        return chances;
      },
      learn: (it) => bandit.learn(it),
    },
  );
  comparison.named({ value: value!, matched, choices }, expected);
}

interface OpenBanditCase {
  lambdas: LogCase["lambdas"];
  inputs: {
    rows: number;
    n_actions: number;
    actions: string;
    positions: string;
    clicked_rows: number[];
    target_counts: number[][];
  };
  expected: Outcome;
}

function openBandit(
  { inputs, ...rest }: OpenBanditCase,
  comparison: Comparison,
) {
  const { n_actions: count, clicked_rows: clicks } = inputs;
  const targets = inputs.target_counts.map((counts) => {
    const sum = counts.reduce((a, b) => a + b, 0);
    return counts.map((it) => it / sum);
  });
  const clicked = new Set(clicks), rate = clicks.length / inputs.rows;
  const predicted = Array(count).fill(rate);
  const rows = inputs.actions.split(" ").map((action, i) => ({
    action: Number(action),
    reward: clicked.has(i) ? 1 : 0,
    propensity: 1 / count,
    target: targets[Number(inputs.positions[i])],
    predicted,
  }));
  comparison.that("number of rows", rows.length === inputs.rows);
  compareEvaluation(rows, rest, comparison);
}

interface DsjsonCase {
  inputs: { lines: string[]; bad: { line: string; error: string }[] };
  expected: {
    decisions: {
      id: string;
      action: number;
      reward: number;
      propensity: number;
      propensities: number[];
      user: unknown;
      items: unknown[];
      learn: boolean;
    }[];
  };
}

function dsjson({ inputs, expected }: DsjsonCase, comparison: Comparison) {
  const found = parseDsjson(inputs.lines.join("\n"));
  const wanted = expected.decisions.filter(({ learn }) => learn);
  comparison.that("number of decisions", found.length === wanted.length);
  const same = (a: unknown, b: unknown) =>
    JSON.stringify(a) === JSON.stringify(b);
  wanted.forEach((it, i) => {
    const { id, context, action, propensity, reward, chances } = found[i];
    const items = (context._multi as { item: unknown }[]).map(({ item }) =>
      item
    );
    comparison.that("id", id === it.id);
    comparison.that("user", same(context.user, it.user));
    comparison.that("items", same(items, it.items));
    comparison.named(
      { action, propensity, reward: reward!, propensities: chances! },
      { ...it } as unknown as Record<string, Expected>,
    );
  });
  for (const { line, error } of inputs.bad) {
    let read: DsjsonDecision[] | Error;
    try {
      read = parseDsjson(line);
    } catch (thrown) {
      read = thrown as Error;
    }
    comparison.that(
      error,
      error.startsWith("no label")
        ? Array.isArray(read) && read[0].reward === undefined
        : read instanceof SyntaxError && read.message.includes(error),
    );
  }
}

const KINDS: Readonly<Record<string, FixtureRunner>> = {
  log,
  ridge,
  replay: replayChoices,
  replay_linucb: replayLinUcb,
  open_bandit: openBandit,
  dsjson,
};

/** Evaluation of a policy by the log of another one. */
export const runner = checkEach({
  cases: (it, ...rest) => KINDS[it.kind](it, ...rest),
}, 1e-9);
