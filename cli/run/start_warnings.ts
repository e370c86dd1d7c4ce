import type { ResolvedConfig } from "../config/resolve.ts";
import type { RunSetup } from "./run_setup.ts";

/** Lists what a user should know before a run trains, a line each. */
export function startWarnings({ config, environments }: RunSetup): string[] {
  const { maxEpisodeSteps = Infinity } = environments.training.spec ?? {};
  return [
    ...withoutUpdate(config),
    ...maxEpisodeSteps === Infinity
      ? [
        `${config.env} has no limit of steps, so that an episode may never end: --set maxEpisodeSteps=1000 sets one`,
      ]
      : [],
  ];
}

/** Warns of a run that is too short for its first update. */
function withoutUpdate(config: ResolvedConfig): string[] {
  const { algorithm, totalTimesteps, numEnvs, learningStarts, numSteps } =
    config;
  const [setting, startsAfter] = typeof learningStarts === "number"
    ? ["learningStarts", learningStarts]
    : ["numSteps", Number(numSteps ?? 0) * numEnvs];
  if (startsAfter <= totalTimesteps) return [];
  const count = (number: number) => number.toLocaleString("en-US");
  return [
    `The run will learn nothing: ${algorithm} makes its first update after ${
      count(startsAfter)
    } steps (${setting}), the run has ${count(totalTimesteps)}`,
  ];
}
