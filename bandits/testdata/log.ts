import type { RandomStream } from "@bellman/random";
import type { FeatureRow } from "../evaluation/cross_fit.ts";

const ACTIONS = 5;

function softmaxOf(scores: number[]): number[] {
  const powers = scores.map(Math.exp), sum = powers.reduce((a, b) => a + b);
  return powers.map((it) => it / sum);
}

function pick(chances: readonly number[], at: number): number {
  let action = 0;
  while (action < chances.length - 1 && (at -= chances[action]) >= 0) action++;
  return action;
}

/** Returns what an action earns on average: a straight line and something bent. */
export function rewardOf(x: readonly number[], action: number): number {
  return 0.5 + 0.2 * x[1] * (action - 2) + 0.1 * Math.sin(3 * x[2] + action);
}

/** Makes a log of a policy; `heavy` is how far it is from the one to evaluate. */
export function makeLog(
  random: RandomStream,
  { rows, heavy }: { rows: number; heavy: number },
): FeatureRow[] {
  return Array.from({ length: rows }, () => {
    const features = [1, random.normal(), random.normal()];
    const all = Array.from({ length: ACTIONS }, (_, i) => i);
    const logged = softmaxOf(all.map((it) => -heavy * it * features[1]));
    const target = softmaxOf(all.map((it) => 0.3 * it * features[1]));
    const action = pick(logged, random.uniform());
    const reward = rewardOf(features, action) + 0.3 * random.normal();
    return { features, action, reward, propensity: logged[action], target };
  });
}
