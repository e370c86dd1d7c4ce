import { checkSettings, type SettingsRange } from "@bellman/training";
import type { A2CConfig } from "./config.ts";

const check = (
  settings: Readonly<Record<string, number>>,
  range: SettingsRange,
) => checkSettings(settings, { of: "A2C", ...range });

/** Throws unless the numbers of a configuration can be run with. */
export function checkConfig(
  config: A2CConfig,
  run: { numEnvs: number; totalTimesteps: number },
): void {
  const { numSteps, lstmSize, gamma, gaeLambda } = config;
  check({ ...run, numSteps, lstmSize }, { minimum: 1, whole: true });
  check({ gamma, gaeLambda }, { minimum: 0, maximum: 1 });
  const { valueCoefficient, entropyCoefficient } = config;
  check({ valueCoefficient, entropyCoefficient }, { minimum: 0 });
  config.hiddenSizes.forEach((size, i) =>
    check({ [`hiddenSizes[${i}]`]: size }, { minimum: 1, whole: true })
  );
  const { sdeSampleFrequency } = config;
  if (sdeSampleFrequency === -1) return;
  check({ sdeSampleFrequency }, { minimum: 1, whole: true });
}
