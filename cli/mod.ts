/**
 * The command line: `train`, `experiment`, `eval`, `play`, `plot`, `share` and `list`. It
 * turns words into options, makes one call of a package, and prints. As a program:
 *
 * ```sh
 * deno run -A jsr:@bellman/cli train a2c --env CartPole-v1
 * ```
 *
 * @example
 * ```ts
 * import { run } from "@bellman/cli";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await run(["list"]), 0);
 * ```
 *
 * @module
 */
import type { CommandIo } from "@bellman/runs/program";

export type { CommandIo };

/**
 * Runs one command line and returns the exit code: 0 when it went well, 2 for
 * bad input, 1 for a run that failed, 130, 143 or 129 for one
 * that Ctrl-C, SIGTERM or SIGHUP interrupted.
 *
 * Errors are one line on standard error; `--debug` adds the stack.
 *
 * @param args Command-line arguments.
 * @param io Where to print; the process's own streams by default.
 * @example
 * ```ts
 * import { run } from "@bellman/cli";
 * import { assertEquals, assertStringIncludes } from "@std/assert";
 *
 * let printed = "";
 * const io = {
 *   out: () => {},
 *   err: (text: string) => printed += text,
 *   outIsTerminal: false,
 *   errIsTerminal: false,
 * };
 * assertEquals(await run(["trian"], io), 2);
 * assertStringIncludes(printed, "did you mean 'train'?");
 * ```
 */
export async function run(
  args: readonly string[],
  io?: CommandIo,
): Promise<number> {
  const { run } = await import("./command_line.ts");
  return await run(args, io);
}

if (import.meta.main) await import("./main.ts");
