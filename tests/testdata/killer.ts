/** Module of a logger that sends its process a signal after some steps, where it is told so. */
import { registerLogger } from "@bellman/runs/settings";

let last = Number(Deno.env.get("KILL_AFTER") ?? Infinity);
let isSent = false;
const nap = new Int32Array(new SharedArrayBuffer(4));
const signal = (Deno.env.get("KILL_SIGNAL") ?? "SIGKILL") as Deno.Signal;
registerLogger(() => ({
  write({ step }) {
    // Another thread hears the signal: a fast run would be over before it did.
    if (isSent) Atomics.wait(nap, 0, 0, 50);
    if (step <= last) return;
    last = Infinity;
    isSent = true;
    Deno.kill(Deno.pid, signal);
    // Shell and system both tell that a terminal is gone.
    if (signal === "SIGHUP") Deno.kill(Deno.pid, signal);
  },
  close() {},
}));
