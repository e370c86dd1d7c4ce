import { assertEquals } from "@std/assert";
import { lockRun } from "@bellman/runs";
import { lockState } from "./lock_state.ts";
import { makePipe } from "../../lab/runs/folder/testdata/folders.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-board-lock-" });
const path = `${dir}/run.lock`;

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});

/** Starts a process that prints a line, and runs a script. */
function startLocker(script: string): Deno.ChildProcess {
  const module = import.meta.resolve("@bellman/runs");
  const text = `
    import { lockRun } from ${JSON.stringify(module)};
    const dir = ${JSON.stringify(dir)};
    const say = (it) => Deno.stdout.writeSync(new TextEncoder().encode(it + "\\n"));
    ${script}
  `;
  const file = `${dir}/script.ts`;
  Deno.writeTextFileSync(file, text);
  const config = new URL("../deno.json", import.meta.url).pathname;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "--no-check", "-c", config, file],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
}

Deno.test("a thousand looks turn none of a thousand locks away, and see each that is held", async () => {
  const child = startLocker(`
    say("begun");
    for (let i = 0; i < 1000; i++) {
      // What a killed run has left is what boards look into.
      Deno.writeTextFileSync(dir + "/run.lock", "");
      const end = performance.now() + 0.5;
      while (performance.now() < end);
      lockRun(dir).release();
    }
    const last = lockRun(dir);
    say("locked");
    await Deno.stdin.readable.getReader().read();
    last.release();
    say("released");
  `);
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => (await lines.read()).value?.trim();
  assertEquals(await next(), "begun");
  let isLocked = false, looks = 0;
  const locked = next().then((it) => {
    assertEquals(it, "locked");
    isLocked = true;
  });
  for (; !isLocked || looks < 1000; looks++) await lockState(dir, "run.lock");
  await locked;
  for (let i = 0; i < 1000; i++) {
    assertEquals(await lockState(dir, "run.lock"), "held");
  }
  await child.stdin.getWriter().close();
  assertEquals(await next(), "released");
  assertEquals(await lockState(dir, "run.lock"), "none");
  await lines.cancel();
  assertEquals((await child.status).code, 0);
});

Deno.test("a process that was killed has left its lock, at once", async () => {
  const child = startLocker(
    `lockRun(dir); say("locked"); setInterval(() => {}, 1e6);`,
  );
  const lines = child.stdout.getReader();
  await lines.read();
  assertEquals(await lockState(dir, "run.lock"), "held");
  child.kill("SIGKILL");
  await child.status;
  await lines.cancel();
  await child.stdin.close();
  assertEquals(await lockState(dir, "run.lock"), "left");
  lockRun(dir).release();
});

Deno.test("what is no lock of this machine is unclear, and hangs nobody", async () => {
  for (const text of ["", "{", "null"]) {
    Deno.writeTextFileSync(path, text);
    assertEquals(await lockState(dir, "run.lock"), "left", text);
  }
  Deno.writeTextFileSync(path, '{"pid":1,"started":"","host":"elsewhere"}\n');
  assertEquals(await lockState(dir, "run.lock"), "unclear");
  Deno.removeSync(path);
  makePipe(path);
  assertEquals(await lockState(dir, "run.lock"), "unclear");
  Deno.removeSync(path);
  Deno.symlinkSync("/dev/zero", path);
  assertEquals(await lockState(dir, "run.lock"), "unclear");
  Deno.removeSync(path);
});
