import { rewardThreshold } from "@bellman/runs/training";
import type { ResolvedConfig } from "@bellman/runs/settings";
import type { Plan, Scale } from "./plan.ts";
import { ATARI_SOURCE, atariScale } from "./atari_scale.ts";
import {
  RANDOM_EPISODES,
  randomReturns,
  type RandomReturnsOptions,
} from "./random_returns.ts";

/** Scale of an environment's normalized scores: `(return - low) / (high - low)`. */
export interface KnownScale {
  /** Return with score 0. */
  low: number;
  /** Return with score 1. */
  high: number;
  /** Description of their origin. */
  origin: string;
}

/** Score scales of an experiment's environments. */
export interface Scales {
  /** Scales by environment. */
  known: ReadonlyMap<string, KnownScale>;
  /** Reason for each environment without a scale. */
  leftOut: ReadonlyMap<string, string>;
}

/** Lists the distinct environments of a plan. */
export function environmentsOf({ variants }: Plan): string[] {
  return [...new Set(variants.flatMap((it) => it.environments))];
}

/** Environments, with the given ends of their scales. */
export interface ScaledPlan {
  /** Ids of the environments. */
  environments: readonly string[];
  /** Given ends of scales by environment. */
  scores: Readonly<Record<string, Scale>>;
}

/** Options of {@linkcode measureScales}. */
export interface MeasureOptions extends RandomReturnsOptions {
  /** Configurations of runs by environment, for measuring random actions. */
  configs: ReadonlyMap<string, ResolvedConfig>;
}

/**
 * Determines the scales of normalized scores: given ones; by default 0 is the measured
 * return of random actions, 1 the environment's reward threshold.
 *
 * @param plan Environments, and given ends of scales.
 * @param options Configurations, folder of measurements, receivers.
 * @returns The scales, and why environments have none.
 *
 * @example
 * ```ts
 * import { measureScales } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const scores = { "CartPole-v1": { low: 20 } };
 * const plan = { environments: ["CartPole-v1", "Acrobot-v1"], scores };
 * const { known, leftOut } = await measureScales(plan, {
 *   configs: new Map(),
 *   dir: await Deno.makeTempDir(),
 *   onNotice: console.error,
 * });
 * assertEquals(known.get("CartPole-v1")?.high, 475);
 * assertEquals([...leftOut.keys()], ["Acrobot-v1"]);
 * ```
 */
export async function measureScales(
  plan: ScaledPlan,
  { configs, ...options }: MeasureOptions,
): Promise<Scales> {
  const unscaled = [...configs]
    .filter(([environment]) => plan.scores[environment]?.low === undefined);
  return await scalesOf(plan, await randomReturns(new Map(unscaled), options));
}

/** Determines scales from known returns of random actions. */
export async function scalesOf(
  plan: ScaledPlan,
  randomReturns: ReadonlyMap<string, number>,
): Promise<Scales> {
  const known = new Map<string, KnownScale>();
  const leftOut = new Map<string, string>();
  for (const environment of plan.environments) {
    const ends = plan.scores[environment] ?? {};
    const random = randomReturns.get(environment);
    const scale = await scaleOf(environment, ends, random);
    if (typeof scale === "string") leftOut.set(environment, scale);
    else known.set(environment, scale);
  }
  return { known, leftOut };
}

/**
 * Determines the scale of an environment.
 *
 * @param environment Environment id.
 * @param ends Ends in the plan.
 * @param random Return of random actions, if known.
 * @returns The scale, or the reason why there is none.
 */
async function scaleOf(
  environment: string,
  ends: Scale,
  random: number | undefined,
): Promise<KnownScale | string> {
  const low = ends.low ?? random;
  const high = ends.high ?? await rewardThreshold(environment);
  if (high === undefined) {
    return "it has no reward threshold, and the plan gives no high";
  }
  if (low === undefined) return "the return of random actions is not known";
  if (low < high) return { low, high, origin: originOf(environment, ends) };
  return `random actions reach ${low.toFixed(1)}, no less than ${high}`;
}

function originOf(
  environment: string,
  { low, high }: Scale,
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
