import type { A2CConfig } from "./config.ts";

function check(
  settings: Readonly<Record<string, number>>,
  wanted: { minimum: number; whole?: boolean; maximum?: number },
): void {
  const { minimum, whole = false, maximum = Infinity } = wanted;
  for (const [name, value] of Object.entries(settings)) {
    if (
      value >= minimum && value <= maximum &&
      (!whole || Number.isInteger(value))
    ) continue;
    const range = maximum === Infinity
      ? `of at least ${minimum}`
      : `from ${minimum} to ${maximum}`;
    throw new RangeError(
      `Cannot run A2C with ${name} = ${value}: expected a ${
        whole ? "whole number" : "number"
      } ${range}`,
    );
  }
}

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
