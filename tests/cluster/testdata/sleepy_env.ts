/** Frames whose steps take a while of sleep: a step's time without a core. */
import type { VecEnv, VecStep } from "@bellman/types";

const cell = new Int32Array(new SharedArrayBuffer(4));
const SHAPE = [84, 84, 4];

/** Environments that sleep for so many milliseconds each in a step. */
export default function make(
  { numEnvs, ms, size = SHAPE }: {
    numEnvs: number;
    ms: number;
    size?: number[];
  },
): VecEnv {
  const length = size.reduce((product, it) => product * it, numEnvs);
  const observations = new Uint8Array(length);
  const rewards = new Float64Array(numEnvs).fill(1);
  const none = () => new Uint8Array(numEnvs);
  const step: VecStep = {
    observations,
    rewards,
    terminated: none(),
    truncated: none(),
    finalObservations: observations,
  };
  let steps = 0;
  return {
    numEnvs,
    observationSpace: {
      type: "box",
      shape: size,
      low: 0,
      high: 255,
      dtype: "uint8",
    },
    actionSpace: { type: "discrete", n: 6 },
    reset: () => observations,
    observations: () => observations,
    step() {
      Atomics.wait(cell, 0, 0, ms * numEnvs);
      observations.fill(++steps & 255);
      return step;
    },
    save: () => null,
    load() {},
    close() {},
  };
}
