import { assert, assertEquals, assertRejects } from "@std/assert";
import { isGone } from "../../../envs/workers/processes/testdata/processes.ts";
import { inPlaces, type JobEnd, startJob } from "./job.ts";

const program = import.meta.resolve("./testdata/program.ts");
const DRIVER = new URL("./testdata/driver.ts", import.meta.url).pathname;

/** Runs a job to its end, and takes what it prints. */
async function runJob(
  ...args: string[]
): Promise<{ end: JobEnd; lines: string[] }> {
  const lines: string[] = [];
  const onLine = (line: string) => void lines.push(line);
  const end = await startJob({ program, args, onLine }).ended;
  return { end, lines };
}

/** Starts a process with a job, until the job is ready: its id is returned. */
async function startDriver(
  ms: number,
): Promise<{ driver: Deno.ChildProcess; job: number; rest: Promise<string> }> {
  const driver = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "--no-check", DRIVER, "save", String(ms)],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = driver.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  const rest = async () => {
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
  };
  return { driver, job: Number(value), rest: rest() };
}

Deno.test("a job's lines arrive, and its end", async () => {
  const { end, lines } = await runJob("print", "one", "zwölf");
  assertEquals(lines, ["one", "zwölf"]);
  assertEquals(end, { code: 0, signal: null, message: "", wasStopped: false });
});

Deno.test("a job that fails tells its last line", async () => {
  const { end } = await runJob("fail");
  assertEquals([end.code, end.message], [1, "no luck"]);
});

Deno.test("a job that a signal ended names it", async () => {
  const { end } = await runJob("die");
  assertEquals([end.signal, end.wasStopped], ["SIGKILL", false]);
});

Deno.test("a job that is stopped saves first", async () => {
  const lines: string[] = [];
  const stop = new AbortController();
  const { ended } = startJob({
    program,
    args: ["save", "200"],
    onLine(line) {
      lines.push(line);
      if (line === "ready") stop.abort();
    },
  }, stop.signal);
  const { code, wasStopped } = await ended;
  assertEquals([code, wasStopped], [143, true]);
  assertEquals(lines, ["ready", "saving", "saved"]);
});

Deno.test("a job that hangs is killed once it was stopped", async () => {
  const job = startJob({
    program,
    args: ["hang"],
    onLine: () => job.stop(),
  });
  const started = performance.now();
  assertEquals((await job.ended).signal, "SIGKILL");
  assert(performance.now() - started < 30_000);
});

Deno.test("a job whose starter was killed saves and ends", async () => {
  const { driver, job, rest } = await startDriver(100);
  driver.kill("SIGKILL");
  await driver.status;
  assert(await isGone(job));
  await rest;
});

Deno.test("Ctrl-C waits until a job has saved", async () => {
  const { driver, job, rest } = await startDriver(300);
  driver.kill("SIGINT");
  assertEquals((await driver.status).code, 130);
  assertEquals(await rest, "saving\nsaved\n");
  assert(await isGone(job));
});

Deno.test("a second Ctrl-C ends a job that saves", async () => {
  const { driver, job, rest } = await startDriver(60_000);
  driver.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 300));
  driver.kill("SIGINT");
  assertEquals((await driver.status).signal, "SIGINT");
  assertEquals(await rest, "saving\n");
  assert(await isGone(job));
});

Deno.test("where the work of one place fails, that of the others is stopped", async () => {
  const ends: JobEnd[] = [];
  const work = async (place: number, signal: AbortSignal) => {
    if (place === 1) throw new Error("no place");
    const job = { program, args: ["save", "1"] };
    ends.push(await startJob(job, signal).ended);
  };
  await assertRejects(
    () => inPlaces(3, work, new AbortController().signal),
    Error,
    "no place",
  );
  assertEquals(ends.map(({ wasStopped }) => wasStopped), [true, true]);
});
