/** A process that starts a job and says its id: `driver.ts WHAT ARG`. */
import { startJob } from "../job.ts";
import { interruptSignal } from "../../program/process.ts";

const { signal } = await interruptSignal(() => {});
const { ended, pid } = startJob({
  program: import.meta.resolve("./program.ts"),
  args: Deno.args,
  onLine: (line) => {
    const text = `${line === "ready" ? pid : line}\n`;
    Deno.stdout.writeSync(new TextEncoder().encode(text));
  },
}, signal);
await ended;
Deno.exit(130);
