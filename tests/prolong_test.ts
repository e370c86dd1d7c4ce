/** A run that is prolonged goes on as if it had been longer from the start. */
import { registerLogger } from "@bellman/runs/settings";
import { CheckpointStore } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import {
  copyRun,
  leaveUnevaluated,
  type Remains,
  remainsOf,
  runCommand,
  train,
  trainProcess,
  trainWell,
} from "./runs.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-prolong-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

const SMALL = [
  ...["--env=CartPole-v1", "--preset=none", "--backend=cpu", "--quiet"],
  ...["--set=numEnvs=2", "--set=evaluationInterval=40", "--set=logInterval=1"],
  ...["--set=evaluationEpisodes=1", "--set=checkpointInterval=40"],
];
const ALGORITHMS: Record<string, string[]> = {
  a2c: ["--set=numSteps=5", "--set=learningRateSchedule=constant"],
  sac: [
    ...["--set=learningStarts=10", "--set=batchSize=4"],
    ...["--set=hiddenSizes=[8]", "--set=bufferSize=200"],
  ],
};

/** What a run leaves, but that its best agent may have been a former end. */
function lastingOf(run: string): Remains {
  const remains = remainsOf(run);
  delete (remains.best as Record<string, Record<string, StateTree>>).loop
    .hasEnded;
  return remains;
}

for (const [algorithm, settings] of Object.entries(ALGORITHMS)) {
  Deno.test(`${algorithm}: a prolonged run is the longer one, bit for bit`, async () => {
    const [whole, run] = [`${dir}/${algorithm}-whole`, `${dir}/${algorithm}`];
    const args = [algorithm, ...SMALL, ...settings];
    await trainWell([...args, "--steps=120", `--out=${whole}`]);
    await trainWell([...args, "--steps=40", `--out=${run}`]);
    await trainWell(["--resume", run, "--steps=120", "--quiet"]);
    assertEquals(lastingOf(run), lastingOf(whole));
    for (const name of ["config.yaml", "report.html"]) {
      const text = await Deno.readTextFile(`${run}/${name}`);
      assertStringIncludes(text, "totalTimesteps: 120");
    }
    const { code, err } = await runCommand(["eval", run, "--episodes=1"]);
    assertEquals([code, err], [0, ""]);
  });
}

Deno.test("a prolonged run that is stopped resumes to its new end", async () => {
  const run = `${dir}/stopped`, whole = `${dir}/a2c-whole`;
  copyRun(`${dir}/a2c`, run);
  leaveUnevaluated(run);
  // From a checkpoint of before, whose notes tell the former length.
  new CheckpointStore(`${run}/checkpoints`).truncate(40);
  await trainWell(["--resume", run, "--quiet"]);
  assertEquals(lastingOf(run), lastingOf(whole));
});

Deno.test("an unfinished run can be prolonged, too", async () => {
  const run = `${dir}/unfinished`;
  copyRun(`${dir}/a2c`, run);
  leaveUnevaluated(run);
  new CheckpointStore(`${run}/checkpoints`).truncate(80);
  await trainWell(["--resume", run, "--steps=160", "--quiet"]);
  const { step } = new CheckpointStore(`${run}/checkpoints`).load();
  assertEquals(step, 160);
  assert(existsSync(`${run}/report.html`));
});

Deno.test("a run whose prolonging fails before it starts is as it was", async () => {
  const run = `${dir}/failed`;
  copyRun(`${dir}/a2c`, run);
  let fails = true;
  registerLogger(({ dir }) => {
    if (fails && dir === run) throw new Error("no luck");
    return { write() {}, close() {} };
  });
  const names = ["config.yaml", "run.json", "report.html"];
  const read = () => names.map((it) => Deno.readTextFileSync(`${run}/${it}`));
  const before = read();
  const prolong = ["--resume", run, "--steps=160", "--quiet"];
  const { code, err } = await train(prolong);
  assertEquals([code, err], [1, "error: no luck\n"]);
  assertEquals(read(), before);
  fails = false;
  // From checkpoints that cannot be restored it does not begin either.
  const damaged = `${dir}/unrestorable`;
  copyRun(run, damaged);
  const store = new CheckpointStore(`${damaged}/checkpoints`);
  for (const { step } of store.list().checkpoints) {
    const { state, notes } = store.load(step);
    store.save(step, { ...state as object, env: {} }, { notes });
  }
  const refused = await train(["--resume", damaged, "--steps=160", "--quiet"]);
  assertEquals(refused.code, 2, refused.err);
  for (const [i, name] of names.entries()) {
    assertEquals(await Deno.readTextFile(`${damaged}/${name}`), before[i]);
  }
  await trainWell(prolong);
  const { step } = new CheckpointStore(`${run}/checkpoints`).load();
  assertEquals(step, 160);
  const [config, record, report] = read();
  for (const text of [config, report]) {
    assertStringIncludes(text, "totalTimesteps: 160");
  }
  assertStringIncludes(record, '"totalTimesteps": 160');
});

Deno.test("a run that is killed before its prolonging starts is prolonged later", async () => {
  const [whole, run, module] = ["a2c-whole", "killed", "kill.ts"]
    .map((it) => `${dir}/${it}`);
  await Deno.writeTextFile(
    module,
    `import { registerLogger } from "${
      import.meta.resolve("@bellman/runs/settings")
    }";
registerLogger(() => {
  if (Deno.env.has("KILL_AT_START")) Deno.kill(Deno.pid, "SIGKILL");
  return { write() {}, close() {} };
});
`,
  );
  await trainWell([
    ...["a2c", ...SMALL, ...ALGORITHMS.a2c, "--steps=40", `--out=${run}`],
    `--set=algorithmModules=[${module}]`,
  ]);
  const prolong = ["--resume", run, "--steps=120", "--quiet", "--trust"];
  const { signal } = await trainProcess(prolong, { KILL_AT_START: "1" })
    .output();
  assertEquals(signal, "SIGKILL");
  const { code, err } = await train(["--resume", run, "--trust"]);
  assertEquals(code, 2);
  assertStringIncludes(err, "it has run all of its 40 steps");
  await trainWell(prolong);
  assertEquals(lastingOf(run), lastingOf(whole));
});

Deno.test("a length that prolongs nothing is one clear line", async () => {
  const run = `${dir}/a2c`;
  const cases: [string, string][] = [
    ["120", `with --steps 120: expected more than its 120 steps`],
    ["40", `with --steps 40: expected more than its 120 steps`],
    ["many", "Cannot use --steps many: expected an integer from 1 to"],
    ["0", "Cannot use --steps 0: expected an integer from 1 to"],
  ];
  for (const [steps, says] of cases) {
    const before = await Deno.readTextFile(`${run}/config.yaml`);
    const { code, err } = await runCommand(
      ["train", "--resume", run, `--steps=${steps}`],
    );
    assertEquals([code, err.trimEnd().split("\n").length], [2, 1]);
    assertStringIncludes(err, says);
    assertEquals(await Deno.readTextFile(`${run}/config.yaml`), before);
  }
});
