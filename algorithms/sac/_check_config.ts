import type { Space } from "@bellman/types";
import { checkSettings, type SettingsRange } from "@bellman/training";
import type { SacConfig } from "./config.ts";

const check = (
  settings: Readonly<Record<string, number>>,
  range: SettingsRange,
) => checkSettings(settings, { of: "SAC", ...range });

/** Throws unless the settings can be run with. */
export function checkConfig(
  config: SacConfig,
  { actionSpace, ...run }: {
    numEnvs: number;
    totalTimesteps: number;
    stackedFrames: number;
    actionSpace: Space;
  },
): void {
  const { numEnvs } = run;
  checkNumbers(config, run);
  if (config.bufferSize < numEnvs) {
    throw new RangeError(
      `Cannot run SAC with bufferSize = ${config.bufferSize}: expected room for a step of ${numEnvs} copies`,
    );
  }
  if (config.learningStarts > config.bufferSize) {
    throw new RangeError(
      `Cannot run SAC with learningStarts = ${config.learningStarts}: expected at most bufferSize, ${config.bufferSize}`,
    );
  }
  if (config.batchSize > config.bufferSize) {
    throw new RangeError(
      `Cannot run SAC with batchSize = ${config.batchSize}: expected at most bufferSize, ${config.bufferSize}`,
    );
  }
  checkForms(config, actionSpace);
}

function checkNumbers(
  config: SacConfig,
  run: Readonly<Record<string, number>>,
): void {
  const { gamma, tau, learningRate, rewardScale, initialTemperature } = config;
  check({ gamma }, { minimum: 0, maximum: 1 });
  check({ tau }, { minimum: 0, maximum: 1, aboveMinimum: true });
  check({ learningRate, rewardScale, initialTemperature }, {
    minimum: 0,
    aboveMinimum: true,
  });
  const { criticLearningRate, temperatureLearningRate, temperature } = config;
  const given = Object.entries({ criticLearningRate, temperatureLearningRate })
    .filter(([, rate]) => rate !== null) as [string, number][];
  check(Object.fromEntries(given), { minimum: 0, aboveMinimum: true });
  if (temperature !== null) check({ temperature }, { minimum: 0 });
  const { bufferSize, batchSize, learningStarts, trainFrequency } = config;
  const { targetUpdateInterval, nSteps, components } = config;
  check({
    ...run,
    bufferSize,
    batchSize,
    learningStarts,
    trainFrequency,
    targetUpdateInterval,
    nSteps,
    components,
  }, { minimum: 1, whole: true });
  const { gradientSteps, sdeSampleFrequency } = config;
  for (
    const [name, count] of Object.entries({ gradientSteps, sdeSampleFrequency })
  ) {
    if (count !== -1) check({ [name]: count }, { minimum: 1, whole: true });
  }
  const { priorityAlpha, priorityBeta, priorityEpsilon } = config;
  check({ priorityAlpha, priorityBeta }, { minimum: 0, maximum: 1 });
  check({ priorityEpsilon }, { minimum: 0, aboveMinimum: true });
  const { policyRegularization, targetEntropyFactor } = config;
  check({ policyRegularization }, { minimum: 0 });
  check({ targetEntropyFactor }, {
    minimum: 0,
    maximum: 1,
    aboveMinimum: true,
  });
  config.hiddenSizes.forEach((size, i) =>
    check({ [`hiddenSizes[${i}]`]: size }, { minimum: 1, whole: true })
  );
}

/** Settings that exclude each other. */
function checkForms(config: SacConfig, actionSpace: Space): void {
  const isBox = actionSpace.type === "box";
  const { critics, policy, useSde, reparameterize } = config;
  if (!isBox && (critics === "value" || policy === "mixture" || useSde)) {
    const name = critics === "value"
      ? "critics: value"
      : useSde
      ? "useSde"
      : "policy: mixture";
    throw new TypeError(
      `Cannot run SAC with ${name} and discrete actions: expected box actions`,
    );
  }
  if (critics === "value" && config.temperature !== null) {
    throw new TypeError(
      "Cannot run SAC with temperature and critics: value: expected rewardScale, which stands in its place",
    );
  }
  if (policy === "mixture" && critics !== "value") {
    throw new TypeError(
      "Cannot run SAC with policy: mixture and critics: twin_q: expected critics: value, as the choice of a component has no gradient",
    );
  }
  if (policy === "mixture" && reparameterize === true) {
    throw new TypeError(
      "Cannot run SAC with policy: mixture and reparameterize: true: expected false, as the choice of a component has no gradient",
    );
  }
}
