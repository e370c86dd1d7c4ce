/** Scores of runs (rows) on tasks (columns): returns, or normalized scores. */
export type ScoreMatrix = readonly ArrayLike<number>[];

/** Checked scores in one array. */
export interface Scores {
  /** Scores, `[runs, tasks]`. */
  data: Float64Array;
  runs: number;
  tasks: number;
}

/**
 * Copies scores into one array.
 *
 * @throws {RangeError} If there are none, runs have unequal numbers of tasks, or a
 * score is not finite.
 */
export function flatScores(rows: ScoreMatrix): Scores {
  const runs = rows.length, tasks = rows[0]?.length ?? 0;
  if (tasks === 0) {
    throw new RangeError(
      `Cannot take statistics of ${runs} runs on 0 tasks: expected a row of scores for each run`,
    );
  }
  const data = new Float64Array(runs * tasks);
  for (let run = 0; run < runs; run++) {
    const row = rows[run];
    if (row.length !== tasks) {
      throw new RangeError(
        `Cannot take statistics of run ${run} on ${row.length} tasks: expected ${tasks}, as run 0 has`,
      );
    }
    for (let task = 0; task < tasks; task++) {
      checkFinite(row[task], `the score of run ${run} on task ${task}`);
      data[run * tasks + task] = row[task];
    }
  }
  return { data, runs, tasks };
}

/** Checks a number, such as a score. */
export function checkFinite(value: number, what: string): void {
  if (Number.isFinite(value)) return;
  throw new RangeError(
    `Cannot take statistics of ${value}, ${what}: expected finite numbers`,
  );
}

/** Checks the level of an interval. */
export function checkLevel(level: number): void {
  if (level > 0 && level < 1) return;
  throw new RangeError(
    `Cannot make intervals of level ${level}: expected a number between 0 and 1, such as 0.95`,
  );
}
