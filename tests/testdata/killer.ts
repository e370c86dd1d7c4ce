/** Module of a logger that sends its process a signal after some steps, where it is told so. */
import { registerLogger } from "@bellman/runs/settings";

let last = Number(Deno.env.get("KILL_AFTER") ?? Infinity);
const signal = (Deno.env.get("KILL_SIGNAL") ?? "SIGKILL") as Deno.Signal;
registerLogger(() => ({
  write({ step }) {
    if (step <= last) return;
    last = Infinity;
    Deno.kill(Deno.pid, signal);
    // Shell and system both tell that a terminal is gone.
    if (signal === "SIGHUP") Deno.kill(Deno.pid, signal);
  },
  close() {},
}));
