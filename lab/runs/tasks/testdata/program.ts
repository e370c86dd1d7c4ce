// deno-lint-ignore-file no-console -- a program that prints
/** A job for tests: what it does is its first argument. */
import { holdLifeLine } from "../life_line.ts";

const [what, ...more] = Deno.args;
await holdLifeLine();
const forever = () => setInterval(() => {}, 1_000);

/** Saves as a run does: it takes a while after the first signal. */
function saveOnSignal(ms: number): void {
  const save = () => {
    console.log("saving");
    setTimeout(() => {
      console.log("saved");
      Deno.exit(143);
    }, ms);
  };
  Deno.addSignalListener("SIGTERM", save);
}

const acts: Record<string, () => void> = {
  print: () => more.forEach((it) => console.log(it)),
  fail: () => {
    console.error("a warning\nerror: no luck\n");
    Deno.exit(1);
  },
  die: () => Deno.kill(Deno.pid, "SIGKILL"),
  save: () => saveOnSignal(Number(more[0])),
  hang: () => {
    // In a call that does not come back.
    Deno.addSignalListener("SIGTERM", () => {});
    console.log("hanging");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
};
acts[what]();
if (what === "save") {
  console.log("ready");
  forever();
} else Deno.exit(0);
