/** The program, of `deno run jsr:@bellman/cli` and of the tasks. */
import { listenEarly } from "@bellman/runs/program";
import process from "node:process";

const args = process.argv.slice(2);
// The rest takes a second to load, in which a signal may end the run.
if (["train", "experiment", "search"].includes(args[0])) listenEarly();
const { run } = await import("./command_line.ts");

process.exit(await run(args));
