/** What tests ask of the system: what hosts have left behind (Linux). */
import { assertEquals } from "@std/assert";
import { Worker } from "node:worker_threads";

const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

/** Children of this process (zombies included), its workers, its descriptors. */
async function count(): Promise<number[]> {
  const here = `/proc/${Deno.pid}`;
  const script = `cat ${here}/task/*/children | wc -w
    cat ${here}/task/*/comm | grep -c '^worker-'
    ls ${here}/fd | wc -l`;
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script] })
    .output();
  return new TextDecoder().decode(stdout).trim().split("\n").map(Number);
}

/** The first worker of a process opens what stays. */
const warmUp = new Promise<void>((resolve) => {
  new Worker(new URL("data:text/javascript,")).on("exit", () => resolve());
});

/**
 * Runs something after which no process, no worker and no descriptor may be
 * there that was not there before. Threads take a moment to end.
 */
export async function leavesNothing(
  use: () => void | Promise<void>,
): Promise<void> {
  if (Deno.build.os !== "linux") return await use();
  await warmUp;
  await pause();
  let before: number[] = [], after: number[] = [];
  // A leak is left by each use; what is opened once for good is not left by the second.
  for (let uses = 0; uses < 2; uses++) {
    before = await count();
    await use();
    for (let tries = 0; tries < 50; tries++) {
      after = await count();
      if (after.every((it, i) => it <= before[i])) return;
      await pause();
    }
  }
  assertEquals(after, before);
}
