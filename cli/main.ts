/**
 * The command line as a program.
 *
 * @example
 * ```sh
 * deno run -RWES --allow-ffi jsr:@bellman/cli/main train a2c --env CartPole-v1
 * ```
 *
 * @module
 */
import { listenEarly } from "@bellman/runs/program";

// The rest takes a second to load, in which a signal may end the run.
if (["train", "experiment", "search"].includes(Deno.args[0])) listenEarly();
const { run } = await import("./command_line.ts");

Deno.exit(await run(Deno.args));
