/** Programs that do not close their environments end all the same. */
import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../../tests/testdata/run_deno.ts";
import { isGone, isProcess } from "./processes/testdata/processes.ts";
import { HANG_MS } from "./testdata/fragile_env.ts";

const PROGRAM = new URL("./testdata/forgetful.ts", import.meta.url).pathname;
const CODES = { return: 0, exit: 3, throw: 1, hang: 0 };

/**
 * Host processes are ended with the program, or end with their input, which
 * takes one that hangs a while after an error of the program.
 */
async function assertGone(pids: readonly number[]): Promise<void> {
  const end = performance.now() + 2 * HANG_MS;
  while (pids.some(isProcess) && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assertEquals(pids.filter(isProcess), []);
}

for (const kind of ["workers", "processes"]) {
  for (const [end, code] of Object.entries(CODES)) {
    Deno.test(`a program that leaves its ${kind} open ends: ${end}`, async () => {
      const ran = await runDeno(["-A", PROGRAM, kind, end]);
      assertEquals(ran.code, code, ran.err);
      const pids = ran.out.split(" ").filter((it) => it !== "").map(Number);
      assertEquals(pids.length, kind === "workers" ? 0 : 2);
      await assertGone(pids);
    });
  }
}

/** What an environment that hangs told of its process. */
async function hostNamedIn(path: string): Promise<number> {
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    const text = await Deno.readTextFile(path);
    if (text !== "") return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the environment was never asked");
}

for (const where of ["constructor", "reset", "step"]) {
  Deno.test(`a process that hangs in its ${where} ends with a program that is killed`, async () => {
    const program = new URL("./testdata/killed.ts", import.meta.url).pathname;
    const sign = await Deno.makeTempFile();
    const parent = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--quiet", program, where, sign],
    }).spawn();
    const host = await hostNamedIn(sign);
    assert(isProcess(host));
    parent.kill("SIGKILL");
    await parent.status;
    assert(await isGone(host));
    await Deno.remove(sign);
  });
}
