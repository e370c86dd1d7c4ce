/** Program of a job that makes a run; its argument is a `RunTask` as JSON. */
import { holdLifeLine } from "./life_line.ts";

// Before it trains, the parent process may end it at any moment.
await holdLifeLine();
const { makeRun } = await import("./make_run.ts");
const { fromJson } = await import("../folder/record.ts");
Deno.exit(await makeRun(fromJson(Deno.args[0]) as never));
