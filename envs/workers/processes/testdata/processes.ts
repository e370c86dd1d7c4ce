/** What tests ask of the system: whether processes and descriptors are left. */
import process from "node:process";

/** Whether a process is there, be it a zombie. */
export function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Whether a process ends by itself, soon. */
export async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 500 && isProcess(pid); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return !isProcess(pid);
}

/** The processes that a process has started (Linux). */
export async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `cat /proc/${pid}/task/*/children`],
  }).output();
  return new TextDecoder().decode(stdout).split(" ").filter((it) => it !== "")
    .map(Number);
}

/**
 * How many descriptors this process has open (Linux). Threads that were ended
 * give back theirs a moment later: the least of several counts is taken, and for
 * `atMost` they are counted until there are so few, for some seconds.
 */
export async function openDescriptors(atMost?: number): Promise<number> {
  let least = Infinity;
  const most = atMost === undefined ? 20 : 500;
  for (let tries = 0; tries < most && !(least <= atMost!); tries++) {
    const { stdout } = await new Deno.Command("ls", {
      args: [`/proc/${Deno.pid}/fd`],
    }).output();
    const count = new TextDecoder().decode(stdout).trim().split("\n").length;
    least = Math.min(least, count);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return least;
}
