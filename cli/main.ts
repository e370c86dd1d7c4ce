import { run } from "./run.ts";

Deno.exit(await run(Deno.args));
