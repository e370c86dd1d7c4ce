/** Worker that trains the toy, for tests. */
import type { Trainable } from "@bellman/types";
import { stop } from "../callbacks.ts";
import { exposeTraining } from "../worker/mod.ts";
import { ToyAlgorithm, ToyEnv } from "./toy.ts";

/** What a test asks the worker to do. */
export interface ToySettings {
  /** Message of the error that making the agent throws. */
  readonly refuse?: string;
  /** Update that fails. */
  readonly failAt?: number;
  /** Step that ends the run the first time. */
  readonly stopAt?: number;
  /** False for an agent that exports no policy. */
  readonly exports?: boolean;
}

/** Functions of the worker. */
export type ToyCalls = {
  /** Adds. */
  sum(a: number, b: number): number;
  /** Returns warnings of the loop. */
  warnings(): string[];
  /** Returns what no message can have. */
  unsendable(): unknown;
  /** Ends the worker by an error that nothing catches. */
  die(): void;
};

exposeTraining<ToySettings>((settings, { isContinued }) => {
  const { refuse, failAt, stopAt, exports = true } = settings;
  if (refuse !== undefined) throw new RangeError(refuse);
  const algorithm = new ToyAlgorithm(4) as Trainable;
  let updates = 0;
  const update = algorithm.update.bind(algorithm);
  algorithm.update = () => {
    if (++updates === failAt) throw new TypeError("Cannot learn from that");
    return update();
  };
  if (exports) {
    algorithm.exportPolicy = ({ metadata } = {}) =>
      new TextEncoder().encode(
        JSON.stringify([metadata, algorithm.save()]),
      );
  }
  const warnings: string[] = [];
  const calls: ToyCalls = {
    sum: (a, b) => a + b,
    warnings: () => warnings,
    unsendable: () => () => {},
    die: () => void Promise.reject(new Error("It died\n  of something")),
  };
  return {
    algorithm,
    env: new ToyEnv(4),
    options: {
      seed: 1,
      now: () => 0,
      onWarning: (line) => warnings.push(line),
      evaluation: { env: new ToyEnv(4), everyTimesteps: 1000, episodes: 2 },
      callbacks: isContinued || stopAt === undefined ? [] : [{
        onStep: ({ step }) => step >= stopAt ? stop("far enough") : undefined,
      }],
    },
    policyOptions: { metadata: { environment: "toy" } },
    calls,
  };
});
