import fc from "fast-check";

/** Scores of some runs on some tasks, which are often equal. */
export function matrices(
  { minRuns = 1, tasks }: { minRuns?: number; tasks?: number } = {},
): fc.Arbitrary<number[][]> {
  const score = fc.integer({ min: -300, max: 300 }).map((it) => it / 4);
  return fc.integer({ min: 1, max: 6 }).chain((drawn) => {
    const length = tasks ?? drawn;
    const row = fc.array(score, { minLength: length, maxLength: length });
    return fc.array(row, { minLength: minRuns, maxLength: 9 });
  });
}
