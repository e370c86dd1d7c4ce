import { assert } from "@std/assert";
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

/** Lists the descriptors that this process has open, with what they are of (Linux). */
async function listDescriptors(): Promise<string[]> {
  const { stdout } = await new Deno.Command("ls", {
    args: ["-l", `/proc/${Deno.pid}/fd`],
  }).output();
  // That of the listing itself is there, or not yet.
  return new TextDecoder().decode(stdout).trim().split("\n").slice(1)
    .filter((line) => !line.endsWith("anon_inode:[pidfd]"));
}

/** Takes the shortest of several lists, as threads that ended close theirs later. */
async function fewestDescriptors(atMost?: number): Promise<string[]> {
  let fewest = await listDescriptors();
  const tries = atMost === undefined ? 20 : 500;
  for (let i = 1; i < tries && !(fewest.length <= atMost!); i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const list = await listDescriptors();
    if (list.length < fewest.length) fewest = list;
  }
  return fewest;
}

/**
 * Checks that rounds of something leave no descriptor open (Linux).
 *
 * @param rounds Function that does them; what is opened once is opened before.
 */
export async function assertNoneLeft(
  rounds: () => void | Promise<void>,
): Promise<void> {
  const before = await fewestDescriptors();
  await rounds();
  const after = await fewestDescriptors(before.length);
  const lists = [before, after].map((it) => it.join("\n")).join("\n\n");
  assert(after.length <= before.length, lists);
}
