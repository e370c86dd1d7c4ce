/** A worker that counts its steps in shared memory, and fails as it is told to. */
import { serveWorker } from "../threads/serve_worker.ts";

/** Milliseconds between two heartbeats. */
export const PAUSE_MS = 100;

/** How a worker fails. */
export type Failure = "throw" | "exit" | "hang" | "pause";

/** Data of a scripted worker; words of `memory` are of one worker after the other. */
export interface Scripted {
  readonly worker: number;
  /** Steps, starts, and the worker's failures that are left, of each worker. */
  readonly memory: Int32Array;
  /** Commands in which it fails, and how. */
  readonly commands: readonly string[];
  readonly how: Failure;
  /** Heartbeats of a step. */
  readonly heartbeats: number;
}

/** Places in the memory of a worker. */
export const STEPS = 0, STARTS = 1, FAILURES = 2, LENGTH = 3;

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const FAIL: Record<Failure, () => void> = {
  throw: () => {
    throw new RangeError("it was told to");
  },
  exit: () => Deno.exit(3),
  hang: () => sleep(3_000),
  pause: () => sleep(300),
};

/** Serves a pool. */
export function main(): void {
  serveWorker<Scripted>(
    ({ worker, memory: all, commands, how, heartbeats }, guard) => {
      const memory = all.subarray(worker * LENGTH, (worker + 1) * LENGTH);
      memory[STARTS]++;
      let steps = 0;
      return {
        run({ type, ...given }) {
          if (commands.includes(type) && memory[FAILURES] > 0) {
            memory[FAILURES]--;
            FAIL[how]();
          }
          if (type === "step") {
            for (let i = 0; i < heartbeats; i++) {
              sleep(PAUSE_MS);
              guard(() => {});
            }
            guard(() => void memory[STEPS]++);
            steps++;
            const episode = { return: 0, length: steps, terminated: true };
            return { episodes: [{ env: worker, ...episode }] };
          }
          if (type === "load") {
            steps = (given as unknown as { snapshot: number }).snapshot;
          }
          return type === "save" ? { snapshot: steps } : {};
        },
        close() {},
      };
    },
  );
}
