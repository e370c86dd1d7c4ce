import { evaluate, type EvaluationResult } from "@bellman/training";
import type { Session } from "./session.ts";

/** How an agent is evaluated. */
export interface EvaluationSettings {
  episodes: number;
  deterministic: boolean;
  seed: number;
}

/** At most this many copies play the episodes of an evaluation side by side. */
const MAX_COPIES = 20;

/** How many copies play the episodes of an evaluation. */
export function evaluationCopies(episodes: number): number {
  return Math.min(episodes, MAX_COPIES);
}

/** Plays whole episodes with the session's agent as it is now. */
export async function evaluateSession(
  { algorithm, environments }: Session,
  { episodes, deterministic, seed }: EvaluationSettings,
): Promise<EvaluationResult> {
  const numEnvs = evaluationCopies(episodes);
  const env = environments.evaluation(numEnvs);
  const actor = algorithm.policy({ deterministic, numEnvs, seed });
  try {
    return await evaluate(actor, env, { episodes, seed });
  } finally {
    actor.close?.();
    env.close();
  }
}

/** A number with at most two decimals. */
export function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** An evaluation in one line: `498.3 ± 2.1 over 20 episodes`. */
export function describeEvaluation(result: EvaluationResult): string {
  return `${round(result.meanReturn)} ± ${
    round(result.stdReturn)
  } over ${result.returns.length} episodes`;
}
