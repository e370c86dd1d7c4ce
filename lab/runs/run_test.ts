import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { copyRun } from "../../tests/runs.ts";
import { lockRun, openRun, Run, trainRun } from "./mod.ts";
import { writeRecord } from "./folder/record.ts";

const root = await Deno.makeTempDir({ prefix: "bellman-run-" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));
const MODULE = import.meta.resolve("./mod.ts");

let trained: Promise<string> | undefined;

/** Copies a run of 200 steps that has ended, which is trained once. */
async function copied(name: string): Promise<string> {
  const settings = {
    ...{ algorithm: "a2c", env: "CartPole-v1", totalTimesteps: 200 },
    ...{ hiddenSizes: [8], evaluationEpisodes: 2, evaluationInterval: 80 },
  };
  trained ??= trainRun(settings, { dir: `${root}/trained` })
    .then(({ dir }) => dir);
  return copyRun(await trained, `${root}/${name}`);
}

Deno.test("a run that is prolonged again and again keeps its best policy", async () => {
  const run = openRun(await copied("prolonged")), told: string[] = [];
  for (const totalTimesteps of [280, 360]) {
    await run.resume({ totalTimesteps, onNotice: (line) => told.push(line) });
  }
  assertEquals([told, run.record.step], [[], 360]);
});

Deno.test("nothing but a run is opened as one, or removed", async () => {
  const site = `${root}/site`, other = `${root}/other`;
  for (const dir of [site, other]) {
    Deno.mkdirSync(`${dir}/posts`, { recursive: true });
  }
  Deno.writeTextFileSync(`${site}/config.yaml`, "baseURL: here\n");
  Deno.writeTextFileSync(`${other}/run.json`, "{}");
  assertThrows(
    () => openRun(site),
    RangeError,
    "neither a record nor checkpoints",
  );
  for (const dir of [site, other]) {
    assertThrows(
      () => new Run(dir).remove(),
      RangeError,
      "the folder of a run",
    );
    assert(Deno.statSync(`${dir}/posts`).isDirectory);
  }
  const run = openRun(await copied("removed"));
  run.remove();
  assertThrows(() => Deno.statSync(run.dir), Deno.errors.NotFound);
});

Deno.test("options that cannot be are refused in one line", async () => {
  const run = openRun(await copied("refused"));
  const asked: [() => Promise<unknown>, string][] = [
    [
      () => run.evaluate({ episodes: 0 }),
      "Cannot evaluate on 0 episodes: expected",
    ],
    [
      () => run.evaluate({ checkpoint: "bets" as "best" }),
      "Cannot load the checkpoint 'bets': expected best, latest or a step",
    ],
    [
      () => trainRun([] as never),
      "Cannot train a run from []: expected settings",
    ],
    [() => trainRun(null as never), "Cannot train a run from null: expected"],
  ];
  for (const [refused, says] of asked) {
    await assertRejects(refused, Error, says);
  }
});

Deno.test("a record of a newer version is refused, and stays as it is", async () => {
  const run = openRun(await copied("newer")), { recordPath } = run.folder;
  const text = Deno.readTextFileSync(recordPath)
    .replace('"format": 1', '"format": 2');
  Deno.writeTextFileSync(recordPath, text);
  const resumed = run.resume({ totalTimesteps: 300 });
  await assertRejects(() => resumed, RangeError, "it is of version 2");
  assertEquals(Deno.readTextFileSync(recordPath), text);
});

Deno.test("a record that cannot be read, or leads elsewhere, says so", async () => {
  const run = openRun(await copied("damaged")), { recordPath } = run.folder;
  const { record } = run;
  for (const step of [-1, Infinity, undefined as never]) {
    writeRecord(run.folder, { ...record, step });
    assertThrows(() => run.record, SyntaxError, "is damaged");
  }
  assertEquals(await run.state, "unknown");
  Deno.removeSync(recordPath);
  Deno.symlinkSync(`${await copied("elsewhere")}/run.json`, recordPath);
  assertThrows(() => run.record, Error);
  assertEquals(await run.state, "unknown");
});

Deno.test("a run without its record and its settings is opened by its checkpoints", async () => {
  const dir = await copied("bare"),
    { meanReturn } = await openRun(dir).evaluate();
  for (const name of ["run.json", "config.yaml"]) {
    Deno.removeSync(`${dir}/${name}`);
  }
  assertEquals((await openRun(dir).evaluate()).meanReturn, meanReturn);
});

Deno.test({
  name: "what another process trained meanwhile is not trained again",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const dir = await copied("meanwhile"), more = await copied("more");
    await openRun(more).resume({ totalTimesteps: 280 });
    const lock = lockRun(dir);
    const code = `import { openRun } from ${JSON.stringify(MODULE)};
      await openRun(${JSON.stringify(dir)}).resume({ totalTimesteps: 280 });`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-check", code],
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const ended = child.output();
    // It waits for the lock where it has the file open.
    for (;;) {
      const { stdout } = await new Deno.Command("ls", {
        args: ["-l", `/proc/${child.pid}/fd`],
      }).output();
      if (new TextDecoder().decode(stdout).includes("run.lock")) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    copyRun(more, dir);
    lock.release();
    const { success, stderr } = await ended;
    assert(!success);
    const told = new TextDecoder().decode(stderr);
    assert(told.includes("expected more than its 280 steps"), told);
  },
});
