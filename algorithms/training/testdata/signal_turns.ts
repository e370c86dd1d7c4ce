// deno-lint-ignore-file no-console -- a program that prints
/** Prints how many turns of the event loop go by before a signal is heard. */
import { EventLoopBreak } from "../event_loop.ts";

const turn = new EventLoopBreak();
const cell = new Int32Array(new SharedArrayBuffer(4));
let isHeard = false;
Deno.addSignalListener("SIGUSR2", () => isHeard = true);
const counts: number[] = [];
for (let round = 0; round < 6; round++) {
  isHeard = false;
  const script = `sleep 0.05; kill -USR2 ${Deno.pid}`;
  new Deno.Command("sh", { args: ["-c", script] }).spawn();
  let turns = 0;
  while (!isHeard && turns < 100) {
    // Steps and updates hold the thread.
    Atomics.wait(cell, 0, 0, 40);
    await turn.take();
    turns++;
  }
  counts.push(turns);
}
console.log(Math.max(...counts));
Deno.exit(0);
