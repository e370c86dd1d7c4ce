import {
  type Callback,
  stopAfterSeconds,
  stopOnNoImprovement,
  stopOnRewardThreshold,
} from "@bellman/training";
import type { RunConfig } from "./config/run_config.ts";

/** The early stops that a configuration asks for. */
export function callbacksOf(
  { stopReward, patience, maxSeconds }: RunConfig,
): Callback[] {
  const callbacks: Callback[] = [];
  if (stopReward !== null) callbacks.push(stopOnRewardThreshold(stopReward));
  if (patience !== null) callbacks.push(stopOnNoImprovement({ patience }));
  if (maxSeconds !== null) callbacks.push(stopAfterSeconds(maxSeconds));
  return callbacks;
}
