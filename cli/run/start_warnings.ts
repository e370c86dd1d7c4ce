import type { ResolvedConfig } from "../config/resolve.ts";
import type { RunSetup } from "./run_setup.ts";
import { turnedText } from "./scaled_environments.ts";

/** Lists what a user should know before a run trains, a line each. */
export function startWarnings({ config, environments }: RunSetup): string[] {
  const { maxEpisodeSteps = Infinity } = environments.training.spec ?? {};
  const turned = turnedText(environments.spaces.observationSpace);
  return [
    ...turned === undefined ? [] : [
      `Images without channels on the last axis, ${turned}, are seen as [height, width, channels] (VecChannelsLast), by policy.onnx too`,
    ],
    ...withoutUpdate(config),
    ...withoutReplay(config),
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
  return [
    `The run will learn nothing: ${algorithm} makes its first update after ${
      count(startsAfter)
    } steps (${setting}), the run has ${count(totalTimesteps)}`,
  ];
}

/** Warns of a run that is too short to replay any of its segments. */
function withoutReplay(config: ResolvedConfig): string[] {
  const { algorithm, totalTimesteps, numEnvs, replayStart, replayRatio } =
    config;
  const startsAfter = Number(replayStart ?? 0) * numEnvs;
  if (replayRatio === 0 || startsAfter <= totalTimesteps) return [];
  return [
    `The run will replay nothing: ${algorithm} replays from ${
      count(startsAfter)
    } steps on (replayStart for each environment), the run has ${
      count(totalTimesteps)
    }`,
  ];
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
