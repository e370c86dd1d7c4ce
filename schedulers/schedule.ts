/**
 * A multiplier for each fraction of progress.
 *
 * Progress runs from 0 at the start to 1 at the planned end and may go beyond;
 * a rate of learning is its first value times the multiplier.
 */
export type Schedule = (progress: number) => number;

/** A value for each step: a count of whatever is counted, from 0. */
export type StepSchedule = (step: number) => number;
