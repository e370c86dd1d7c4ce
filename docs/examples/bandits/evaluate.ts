// deno-lint-ignore-file no-console -- a program that prints
/** What another policy would have earned: deno run --allow-read evaluate.ts log.jsonl */
import { crossFit, evaluate, linear, parseJsonl } from "@bellman/bandits";

type Visit = { visits: number; phone: boolean };
const ACTIONS = ["free", "pro", "team"];

/** Features of a visit, for the model that predicts rewards. */
const features = (it: Visit) => [1, Math.log1p(it.visits), Number(it.phone)];
/** Policy to evaluate: the chance of each action. */
const policy = (it: Visit) => it.phone ? [1, 0, 0] : [0.1, 0, 0.9];

try {
  const log = parseJsonl<string, Visit>(Deno.readTextFileSync(Deno.args[0]));
  const rows = log.map(({ id, context, action, reward, propensity }) => {
    const index = ACTIONS.indexOf(action);
    const problem = index < 0 ? `unknown action '${action}'` : "no visit";
    if (index < 0 || !context) throw new Error(`Decision ${id} has ${problem}`);
    const [x, target] = [features(context), policy(context)];
    return { features: x, action: index, reward, propensity, target };
  });
  const { estimates, warnings } = evaluate(crossFit(rows, linear()));
  for (const [name, { value, interval }] of Object.entries(estimates)) {
    const numbers = [value, ...interval ?? []].map((it) => it?.toFixed(4));
    console.log(name.padEnd(10), ...numbers);
  }
  for (const it of warnings) console.log(it);
} catch (error) {
  console.error((error as Error).message);
  Deno.exit(2);
}
