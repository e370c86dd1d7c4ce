import { evaluate, type EvaluationResult } from "@bellman/training";
import type { Session } from "./session.ts";
import { copiesFor } from "./training_copies.ts";

/** How an agent is evaluated. */
export interface EvaluationSettings {
  episodes: number;
  deterministic: boolean;
  seed: number;
  /** Ends the evaluation with an `AbortError` when aborted. */
  signal?: AbortSignal;
}

/** Plays whole episodes with the session's agent as it is now. */
export async function evaluateSession(
  { algorithm, environments }: Session,
  { episodes, deterministic, seed, signal }: EvaluationSettings,
): Promise<EvaluationResult> {
  const numEnvs = copiesFor(episodes);
  const env = environments.evaluation(numEnvs);
  const actor = algorithm.policy({ deterministic, numEnvs, seed });
  try {
    return await evaluate(actor, env, { episodes, seed, signal });
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
