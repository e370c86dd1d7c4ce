/** Where a command prints to; tests give their own. */
export interface CommandIo {
  /** Writes text to standard output as it is. */
  out(text: string): void;
  /** Writes text to standard error as it is. */
  err(text: string): void;
  /** Whether standard output is a terminal. */
  outIsTerminal: boolean;
  /** Whether standard error is a terminal. */
  errIsTerminal: boolean;
}

/** Writes text; what a reader that has gone no longer takes is left out, so that a run ends as it would have. */
function writeAll(stream: typeof Deno.stdout, text: string): void {
  let bytes = new TextEncoder().encode(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
  } catch (error) {
    const { code } = error as { code?: string };
    // A terminal that closed, a pipe without its end.
    if (code !== "EIO" && code !== "EPIPE") throw error;
  }
}

/** The process's own streams. */
export function processIo(): CommandIo {
  return {
    out: (text) => writeAll(Deno.stdout, text),
    err: (text) => writeAll(Deno.stderr, text),
    outIsTerminal: Deno.stdout.isTerminal(),
    errIsTerminal: Deno.stderr.isTerminal(),
  };
}
