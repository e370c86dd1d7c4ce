import type { PeersName } from "../python.ts";

/** Folder of the updates that ours records, for the peer to repeat. */
export const UPDATES = { folder: ".venv/tensorflow/updates" };

/** Numbers that a program prints, by name; a lone number is `value`. */
export type Figures = Readonly<Record<string, number>>;

/** A program that prints a number or a JSON object last. */
export interface Program {
  readonly language: "deno" | "python";
  readonly file: string;
  readonly task?: unknown;
}

/** A comparison of two figures; a ratio of 1 is as fast as the other. */
export interface Comparison {
  readonly what: string;
  readonly ours: readonly [program: string, figure: string];
  readonly theirs: readonly [program: string, figure: string];
  /** Meaning of the figures: work per time, or time. */
  readonly unit: "steps/s" | "ms" | "us" | "s";
  /** The least ratio, in our favour. */
  readonly wanted: number;
  /** The ratio that would be good, where that is more. */
  readonly aim?: number;
}

/** A figure that is reported by itself; some have a bound. */
export interface Bound {
  readonly what: string;
  readonly figure: readonly [program: string, figure: string];
  readonly unit: string;
  readonly atMost?: number;
}

/** Programs that take turns in each round. */
export interface Suite {
  readonly about: string;
  /**
   * The Python environment of the peers; where it cannot be had, only our own
   * programs run.
   *
   * @default "peers"
   */
  readonly peers?: PeersName;
  /**
   * Cores that each program may use.
   *
   * @default 1
   */
  readonly cores?: number;
  readonly programs: Readonly<Record<string, Program>>;
  readonly comparisons: readonly Comparison[];
  readonly bounds?: readonly Bound[];
}
