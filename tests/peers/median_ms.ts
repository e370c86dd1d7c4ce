/** Median milliseconds of a call, in runs of several. */
export function medianMs(
  call: () => void,
  { runs, calls = 1 }: { runs: number; calls?: number },
): number {
  const times: number[] = [];
  for (let run = -3; run < runs; run++) {
    const started = performance.now();
    for (let i = 0; i < calls; i++) call();
    if (run >= 0) times.push((performance.now() - started) / calls);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}
