import { rewardThreshold } from "@bellman/runs/training";
import type { Plan } from "./plan.ts";
import { ATARI_SOURCE, atariScale } from "./atari_scale.ts";
import { RANDOM_EPISODES } from "./random_returns.ts";

/** Scale of an environment's normalized scores: `(return - low) / (high - low)`. */
export interface KnownScale {
  low: number;
  high: number;
  /** Origin of the two numbers, in words. */
  origin: string;
}

/** Scales of the environments of an experiment. */
export interface Scales {
  /** Scales by environment. */
  known: ReadonlyMap<string, KnownScale>;
  /** Environments without one, and the reason. */
  leftOut: ReadonlyMap<string, string>;
}

/** Lists the environments of a plan, each once. */
export function environmentsOf({ variants }: Plan): string[] {
  return [...new Set(variants.flatMap((it) => it.environments))];
}

/**
 * Finds the scales of normalized scores: those of the plan; by default 0 is the
 * return of random actions, 1 the environment's reward threshold.
 */
export async function scalesOf(
  plan: Plan,
  randomReturns: ReadonlyMap<string, number>,
): Promise<Scales> {
  const known = new Map<string, KnownScale>();
  const leftOut = new Map<string, string>();
  for (const environment of environmentsOf(plan)) {
    const given = plan.scores[environment] ?? {};
    const random = randomReturns.get(environment);
    const scale = await scaleOf(environment, given, random);
    if (typeof scale === "string") leftOut.set(environment, scale);
    else known.set(environment, scale);
  }
  return { known, leftOut };
}

/**
 * Finds the scale of an environment.
 *
 * @param environment Its id.
 * @param given Ends that the plan gives.
 * @param random Return of random actions, where it is known.
 * @returns The scale, or the reason for which there is none.
 */
export async function scaleOf(
  environment: string,
  given: Plan["scores"][string],
  random: number | undefined,
): Promise<KnownScale | string> {
  const low = given.low ?? random;
  const high = given.high ?? await rewardThreshold(environment);
  if (high === undefined) {
    return "it has no reward threshold, and the plan gives no high";
  }
  if (low === undefined) return "the return of random actions is not known";
  if (low < high) return { low, high, origin: originOf(environment, given) };
  return `random actions reach ${low.toFixed(1)}, no less than ${high}`;
}

function originOf(
  environment: string,
  { low, high }: Plan["scores"][string],
): string {
  const atari = atariScale(environment);
  if (low !== undefined && low === atari?.low && high === atari.high) {
    return ATARI_SOURCE;
  }
  return [
    low === undefined
      ? `low: random actions, ${RANDOM_EPISODES} episodes`
      : "low: the plan",
    high === undefined ? "high: the reward threshold" : "high: the plan",
  ].join("; ");
}
