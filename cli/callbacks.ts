import {
  type Callback,
  stopAfterSeconds,
  stopOnNoImprovement,
  stopOnRewardThreshold,
} from "@bellman/training";
import type { RunConfig } from "./config/run_config.ts";
import type { PolicyPlots } from "./policy_plots.ts";

/** The early stops that a configuration asks for, and images at evaluations. */
export function callbacksOf(
  { stopReward, patience, maxSeconds }: RunConfig,
  plots?: PolicyPlots,
): Callback[] {
  const callbacks: Callback[] = [];
  if (stopReward !== null) callbacks.push(stopOnRewardThreshold(stopReward));
  if (patience !== null) callbacks.push(stopOnNoImprovement({ patience }));
  if (maxSeconds !== null) callbacks.push(stopAfterSeconds(maxSeconds));
  if (plots !== undefined) {
    callbacks.push({ onEvaluation: ({ step }) => plots.write(step) });
  }
  return callbacks;
}
