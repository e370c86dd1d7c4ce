/**
 * The command line as a program.
 *
 * @example
 * ```sh
 * deno run -A jsr:@bellman/cli/main train a2c --env CartPole-v1
 * ```
 *
 * @module
 */
import { run } from "./run.ts";

Deno.exit(await run(Deno.args));
