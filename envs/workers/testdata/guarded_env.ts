/** An environment whose step takes long, and changes shared memory on the way. */
import { discrete } from "../../spaces/constructors.ts";
import type { GroupOptions } from "../group_source.ts";
import type { VecEnv } from "@bellman/types";

/** Milliseconds between two changes. */
export const PAUSE_MS = 200;

interface GuardedOptions extends GroupOptions {
  /** Changes before the last one, which is made after a pause of `lastMs`. */
  readonly changes: number;
  readonly lastMs: number;
  readonly memory: Int32Array;
}

export default (options: GroupOptions): VecEnv => {
  const { changes, lastMs, memory, guard } = options as GuardedOptions;
  const pause = (ms: number) =>
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  const change = () => void memory[0]++;
  const observations = new Int32Array(1), flags = new Uint8Array(1);
  return {
    numEnvs: 1,
    observationSpace: discrete(1),
    actionSpace: discrete(1),
    reset: () => observations,
    step() {
      for (let i = 0; i < changes; i++) {
        pause(PAUSE_MS);
        guard!(change);
      }
      pause(lastMs);
      try {
        guard!(change);
      } finally {
        Atomics.store(memory, 1, 1);
        Atomics.notify(memory, 1);
      }
      return {
        observations,
        finalObservations: observations,
        rewards: new Float64Array(1),
        terminated: flags,
        truncated: flags,
      };
    },
    observations: () => observations,
    save: () => null,
    load: () => {},
    close: () => {},
  };
};
