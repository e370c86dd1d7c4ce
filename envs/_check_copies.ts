/** Throws unless there can be so many copies of an environment. */
export function checkCopies(id: string, numEnvs: number): void {
  if (Number.isInteger(numEnvs) && numEnvs >= 1) return;
  throw new RangeError(
    `Cannot make ${numEnvs} copies of ${id}: expected a whole number of at least 1`,
  );
}

/** Throws unless a snapshot is of as many copies as there are. */
export function checkSnapshotCopies(numEnvs: number, saved: number): void {
  if (saved === numEnvs) return;
  throw new RangeError(
    `Cannot restore ${numEnvs} copies from a snapshot of ${saved}`,
  );
}
