/** The process was asked to end, told by the exit code of its signal. */
export class Interruption extends Error {
  override name = "Interruption";
  /** 128 and the signal's number, as shells tell it. */
  readonly exitCode: number;

  constructor(exitCode: number) {
    super("it was interrupted");
    this.exitCode = exitCode;
  }
}

const EXIT_CODES: readonly (readonly [Deno.Signal, exitCode: number])[] =
  Deno.build.os === "windows"
    ? [["SIGINT", 130]]
    : [["SIGINT", 130], ["SIGTERM", 143]];

/**
 * Runs something that is not to be torn off in its midst, such as between two
 * renames: it is told of the signals that would end the process, and cleans up
 * by itself.
 *
 * @param run What to run: the signal is aborted with an {@linkcode Interruption}.
 */
export async function interruptibly<T>(
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const listeners = EXIT_CODES.map(([name, exitCode]) => {
    const listener = () => controller.abort(new Interruption(exitCode));
    Deno.addSignalListener(name, listener);
    return () => Deno.removeSignalListener(name, listener);
  });
  try {
    return await run(controller.signal);
  } finally {
    for (const remove of listeners) remove();
  }
}
