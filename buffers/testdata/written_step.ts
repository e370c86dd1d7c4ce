/** Numbers of an observation. */
export const WRITTEN_SIZE = 8;

/** What stands in every number of an observation. */
export function writtenNumber(stream: number, step: number): number {
  return stream * 1_000_000 + step + 1;
}

/** Whether a stream's episode is cut off after a step. */
export function isWrittenEnd(stream: number, step: number): boolean {
  return (step + stream) % 7 === 0;
}

/** The step of a writer's streams: every row can be told from its first number. */
export function writtenStep(writer: number, step: number, numEnvs: number) {
  const streams = Array.from(
    { length: numEnvs },
    (_, env) => writer * numEnvs + env,
  );
  const fill = (numberOf: (stream: number) => number) =>
    Int32Array.from(
      { length: numEnvs * WRITTEN_SIZE },
      (_, i) => numberOf(streams[Math.floor(i / WRITTEN_SIZE)]),
    );
  return {
    observation: fill((stream) => writtenNumber(stream, step)),
    terminated: new Uint8Array(numEnvs),
    truncated: streams.map((it) => isWrittenEnd(it, step) ? 1 : 0),
    nextObservation: fill((stream) =>
      isWrittenEnd(stream, step)
        ? -writtenNumber(stream, step)
        : writtenNumber(stream, step + 1)
    ),
  };
}
