import process from "node:process";

/** Milliseconds of the processor that this process has had. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Returns a clock: the processor's, which other programs lengthen least, or the wall's. */
export function clockOf(name: "processor" | "wall"): () => number {
  return name === "processor" ? processorMs : () => performance.now();
}

/**
 * Measures the median milliseconds of a call, in runs of several: by the wall's
 * clock, or by another one.
 */
export function medianMs(
  call: () => void,
  { runs, calls = 1, warmUp = 3, now = () => performance.now() }: {
    runs: number;
    calls?: number;
    warmUp?: number;
    now?: () => number;
  },
): number {
  const times: number[] = [];
  for (let run = -warmUp; run < runs; run++) {
    const started = now();
    for (let i = 0; i < calls; i++) call();
    if (run >= 0) times.push((now() - started) / calls);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}
