import { createProgress, type ProgressDisplay } from "@bellman/training";
import { type CommandIo, printable } from "@bellman/runs/program";

/** Streams of a command, and the display of its run below what they print. */
export interface DisplayedIo {
  io: CommandIo;
  /** Bar of the run; none where nobody would see it. */
  progress?: ProgressDisplay;
  /** True where the bar is all that is shown before the result. */
  quiet: boolean;
}

/**
 * Puts a progress bar on a command's streams: what is printed on its terminal
 * stays above.
 *
 * @param io Streams of the command.
 * @param options `quiet` shows only the bar and the result; `speed` describes the speed in detail.
 */
export function displayOn(
  io: CommandIo,
  { quiet, speed }: { quiet: boolean; speed: () => string },
): DisplayedIo {
  const { errIsTerminal, outIsTerminal, raw = io } = io;
  if (quiet && !errIsTerminal) return { io, quiet };
  const isOne = errIsTerminal && outIsTerminal;
  const progress = createProgress({
    write: raw.err,
    writeEvaluations: isOne ? undefined : io.out,
    isTerminal: errIsTerminal,
    speed,
    size: io.size,
  });
  return {
    io: {
      ...io,
      out: isOne ? (text) => progress.print(printable(text), raw.out) : io.out,
      err: (text) => progress.print(printable(text)),
    },
    progress,
    quiet,
  };
}
