import type { EvaluatedPolicy } from "../jobs/run_task.ts";

/** A run of an experiment: one variant in one environment with one seed. */
export interface Cell {
  variant: string;
  /** Id of the environment, such as `CartPole-v1`. */
  environment: string;
  seed: number;
  /** The run folder: `DIR/runs/VARIANT/ENVIRONMENT/seed-N`. */
  dir: string;
}

/** State of a cell, as its run folder says it. */
export type CellState = "missing" | "unfinished" | "finished" | "failed";

/** A cell and what its run folder holds. */
export interface CellResult extends Cell {
  state: CellState;
  /** Environment steps of the training so far. */
  steps: number;
  /** Seconds of the training so far, its evaluations included. */
  seconds: number;
  /** The policy at the end of training; null unless the cell is finished. */
  last: EvaluatedPolicy | null;
  /** The checkpoint with the highest of the evaluations during training; null unless the cell is finished. */
  best: EvaluatedPolicy | null;
  /** Commit of the folder that the cell was finished in; empty where that is no repository. */
  commit: string;
  /** Last line of a cell that failed. */
  message: string;
}
