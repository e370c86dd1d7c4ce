import { assertEquals, assertThrows } from "@std/assert";
import { existsSync } from "node:fs";
import { stateOfRun } from "./list.ts";
import { lockRun } from "./lock.ts";

Deno.test("a run is locked for one at a time, and named by its holder", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/run.lock`;
  const lock = lockRun(dir);
  const { pid, started } = JSON.parse(Deno.readTextFileSync(path));
  assertEquals(pid, Deno.pid);
  assertThrows(
    () => lockRun(dir),
    RangeError,
    `Cannot use the run ${dir}: process ${Deno.pid} on ${Deno.hostname()}, begun at ${started}, trains it at present`,
  );
  lock.release();
  assertEquals(existsSync(path), false);
  lockRun(dir).release();
  await Deno.remove(dir, { recursive: true });
});

Deno.test("what a process left behind is taken over, whoever has its id now", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/run.lock`;
  const recycled = { pid: Deno.ppid, started: "", host: Deno.hostname() };
  for (const text of ["", "{", "null", JSON.stringify(recycled)]) {
    Deno.writeTextFileSync(path, text);
    const lock = lockRun(dir);
    assertEquals(JSON.parse(Deno.readTextFileSync(path)).pid, Deno.pid);
    lock.release();
    assertEquals(existsSync(path), false);
  }
  // A holder whose file somebody removed leaves the next one's alone.
  const lock = lockRun(dir);
  Deno.removeSync(path);
  const next = lockRun(dir);
  lock.release();
  assertEquals(existsSync(path), true);
  next.release();
  assertEquals(existsSync(path), false);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a process of Node, which cannot lock, holds the lock while it runs", async () => {
  const dir = await Deno.makeTempDir();
  const child = new Deno.Command("sleep", { args: ["60"] }).spawn();
  const holder = { pid: child.pid, host: Deno.hostname(), lockless: true };
  Deno.writeTextFileSync(`${dir}/run.lock`, JSON.stringify(holder));
  assertThrows(() => lockRun(dir), RangeError, `process ${child.pid} on`);
  assertEquals(await stateOfRun(dir, "running"), "unknown");
  child.kill();
  await child.status;
  lockRun(dir).release();
  await Deno.remove(dir, { recursive: true });
});
