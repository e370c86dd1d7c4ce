/** How far a run is. */
export interface ProgressState {
  /** Environment steps taken. */
  readonly step: number;
  /** Environment steps of the whole run. */
  readonly totalTimesteps: number;
  /** Environment steps at which this process began: 0, or those of the checkpoint it resumed. */
  readonly startStep: number;
  /** Mean return of the last episodes, NaN while there is none. */
  readonly meanReturn: number;
}

/**
 * Something that shows how far a run is. Called after each step, so it must return at once when there is nothing to show.
 */
export interface ProgressReporter {
  /** Shows the state, if it is time to. */
  update(state: ProgressState): void;
  /** Takes the bar away, so that something else can be written. */
  clear?(): void;
  /** Shows the last state and leaves it. */
  finish(state: ProgressState): void;
}
