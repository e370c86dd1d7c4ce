/** Folders of versions that wrote no record are read, resumed and prolonged as they were. */
import { readRecord, RunFolder } from "@bellman/runs";
import { CheckpointStore } from "@bellman/training";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { csvParse } from "d3-dsv";
import { existsSync } from "node:fs";
import { recordOf } from "../lab/runs/tasks/run_task.ts";
import {
  assertEvaluations,
  copyRun,
  editRecord,
  leaveUnevaluated,
  type Remains,
  remainsOf,
  runCommand,
  train,
  trainWell,
} from "./runs.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-former-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

const SMALL = [
  ...["--env=CartPole-v1", "--preset=none", "--backend=cpu", "--quiet"],
  ...["--set=numEnvs=2", "--set=numSteps=5", "--set=evaluationInterval=40"],
  ...["--set=evaluationEpisodes=1", "--set=checkpointInterval=40"],
  ...["--set=logInterval=1", "--set=learningRateSchedule=constant"],
];
const whole = `${dir}/whole`;
await trainWell(["a2c", ...SMALL, "--steps=120", `--out=${whole}`]);

let count = 0;

/** Takes its record from a run, as if a version had made it that wrote none. */
function makeFormer(run: string): string {
  Deno.removeSync(`${run}/run.json`);
  const text = Deno.readTextFileSync(`${run}/config.yaml`);
  Deno.writeTextFileSync(
    `${run}/config.sig`,
    `# The initial configuration\n# sha256 00\n# unsigned\n${text}`,
  );
  return run;
}

/** A copy of the whole run, of a former version. */
const former = () => makeFormer(copyRun(whole, `${dir}/former${count++}`));

/** What a run leaves; what came after a former end may be the best since. */
function lastingOf(run: string): Remains {
  const remains = remainsOf(run);
  const { loop } = remains.best as { loop: { hasEnded?: boolean } };
  delete loop.hasEnded;
  return remains;
}

/** Writes the reason of its end into a run's report. */
function writeReason(run: string, reason: string): void {
  const path = `${run}/report.html`, text = Deno.readTextFileSync(path);
  const changed = text.replace("<dd>completed</dd>", `<dd>${reason}</dd>`);
  assert(changed !== text);
  Deno.writeTextFileSync(path, changed);
}

Deno.test("a former run that has ended is one", async () => {
  const run = former();
  const { state, reason, step, updates, episodes, evaluations } = recordOf(
    run,
  )!;
  const own = readRecord(new RunFolder(whole))!;
  assertEquals(
    [state, reason, step, updates, episodes],
    [own.state, own.reason, own.step, own.updates, own.episodes],
  );
  assertEquals(evaluations, { during: own.evaluations.during });
  const commands: [string, ...string[]][] = [
    ["eval", "--episodes=2"],
    ["export", `--out=${dir}/policy.onnx`],
    ["plot", "--key=eval/return_mean", `--out=${dir}/curve.svg`],
  ];
  for (const [command, ...args] of commands) {
    const [found, expected] = [
      await runCommand([command, run, ...args]),
      await runCommand([command, whole, ...args]),
    ];
    assertEquals([found.code, found.err], [0, ""]);
    assertEquals(found.out.replaceAll(run, whole), expected.out);
  }
  const refused = await train(["--resume", run]);
  assertEquals(refused.code, 2);
  assertStringIncludes(refused.err, "it has run all of its 120 steps");
  assertEquals(existsSync(`${run}/run.json`), false);
  // It is prolonged as any other, and has a record then.
  const longer = `${dir}/longer`;
  await trainWell(["a2c", ...SMALL, "--steps=200", `--out=${longer}`]);
  await trainWell(["--resume", run, "--steps=200", "--quiet"]);
  assertEquals(lastingOf(run), lastingOf(longer));
  assertEvaluations(run);
  assertEquals((await runCommand(["eval", run, "--episodes=1"])).err, "");
});

Deno.test("a former run that was interrupted or killed goes on to the same end", async () => {
  for (const how of ["interrupted", "killed", "before its last evaluation"]) {
    const run = former();
    if (how !== "before its last evaluation") {
      new CheckpointStore(`${run}/checkpoints`).truncate(80);
    }
    if (how === "interrupted") writeReason(run, how);
    else Deno.removeSync(`${run}/report.html`);
    const { state, reason } = recordOf(run)!;
    assertEquals(
      [state, reason],
      how === "interrupted" ? ["stopped", how] : ["running", undefined],
    );
    const { err } = await trainWell(["--resume", run, "--quiet"]);
    assertEquals(err, "");
    assertEquals(remainsOf(run), remainsOf(whole));
    assertEvaluations(run);
  }
});

Deno.test("a former run that stopped early says why", async () => {
  const run = former();
  writeReason(run, "mean return 9.5 reached 9 &amp; more");
  const { state, reason } = recordOf(run)!;
  assertEquals([state, reason], ["ended", "mean return 9.5 reached 9 & more"]);
  const settings = await runCommand(["eval", run, "--json"]);
  assertEquals([settings.code, settings.err], [0, ""]);
});

Deno.test("a former shared agent is the agent that it was", async () => {
  const shared = `${dir}/shared`;
  const { code, err } = await runCommand(
    ["share", former(), "--out", shared],
  );
  assertEquals(code, 0, err);
  const [found, expected] = [
    await runCommand(["eval", shared, "--episodes=2", "--json"]),
    await runCommand(["eval", whole, "--episodes=2", "--json"]),
  ];
  assertEquals([found.code, found.err], [0, ""]);
  const returnsOf = ({ out }: { out: string }) => JSON.parse(out).returns;
  assertEquals(returnsOf(found), returnsOf(expected));
  // One of the zoo was shared by such a version.
  const ofZoo = await runCommand(["eval", "zoo:a2c/CartPole-v1"]);
  assertEquals([ofZoo.code, ofZoo.err], [0, ""]);
});

const PLAN = `
environments: [CartPole-v1]
seeds: 3
steps: 120
episodes: 2
set: { hiddenSizes: [4], numSteps: 5, evaluationEpisodes: 1, checkpointInterval: 40 }
variants: { a2c: {} }
`;

Deno.test("cells of a former experiment keep their results, and what is left is made", async () => {
  const plan = `${dir}/plan.yaml`, out = `${dir}/experiment`;
  Deno.writeTextFileSync(plan, PLAN);
  const command = ["experiment", plan, "--out", out];
  const made = await runCommand(command);
  assertEquals(made.code, 0, made.err);
  const results = () =>
    csvParse(Deno.readTextFileSync(`${out}/results.csv`))
      .map((it) => [it.state, it.steps, it.last, it.best, it.message]);
  const expected = results();
  const cells = [0, 1, 2]
    .map((seed) => `${out}/runs/a2c/CartPole-v1/seed-${seed}`);
  const [finished, failed, unfinished] = cells;
  const policy = { step: 120, meanReturn: 12.5, stdReturn: 1 };
  Deno.writeTextFileSync(
    `${makeFormer(finished)}/evaluations.json`,
    JSON.stringify({
      ...{ episodes: 2, seed: 1_000_000, steps: 120, seconds: 3 },
      ...{ commit: "0123456", last: policy, best: { ...policy, step: 80 } },
    }),
  );
  Deno.writeTextFileSync(`${finished}/resumes.txt`, "2\n");
  makeFormer(failed);
  Deno.removeSync(`${failed}/report.html`);
  Deno.writeTextFileSync(`${failed}/failure.txt`, "no luck\n");
  makeFormer(unfinished);
  Deno.removeSync(`${unfinished}/report.html`);
  new CheckpointStore(`${unfinished}/checkpoints`).truncate(40);
  const { code, err } = await runCommand(command);
  assertEquals(code, 1);
  assertStringIncludes(err, "a2c/CartPole-v1/seed-1 failed: no luck\n");
  const of = recordOf(finished)!;
  assertEquals([of.commit, of.resumes], ["0123456", 2]);
  assertEquals(existsSync(`${finished}/run.json`), false);
  const own = ["finished", "120", "12.5", "12.5", ""];
  assertEquals(results(), [
    own,
    ["failed", "120", "", "", "no luck"],
    expected[2],
  ]);
  const retried = await runCommand([...command, "--retry"]);
  assertEquals(retried.code, 0, retried.err);
  assertEquals(results(), [own, ...expected.slice(1)]);
  assertEquals(recordOf(failed)!.state, "ended");
});

Deno.test("a run behaves the same whatever becomes of its report", async () => {
  const damages: Record<string, (path: string) => void> = {
    "deleted": (path) => Deno.removeSync(path),
    "interrupted": (path) => {
      const text = Deno.readTextFileSync(path);
      Deno.writeTextFileSync(
        path,
        text.replace("<dd>completed</dd>", "<dd>interrupted</dd>"),
      );
    },
    "another file": (path) => Deno.writeTextFileSync(path, "x".repeat(99)),
  };
  const judged = await runCommand(["eval", whole, "--episodes=2"]);
  const longer = `${dir}/longer-with-report`;
  copyRun(whole, longer);
  await trainWell(["--resume", longer, "--steps=200", "--quiet"]);
  for (const [name, damage] of Object.entries(damages)) {
    const run = copyRun(whole, `${dir}/report ${name}`);
    damage(`${run}/report.html`);
    const refused = await train(["--resume", run]);
    assertEquals(refused.code, 2, name);
    assertStringIncludes(refused.err, "it has run all of its 120 steps");
    const { out } = await runCommand(["eval", run, "--episodes=2"]);
    assertEquals(out.replaceAll(run, whole), judged.out, name);
    assertEquals(recordOf(run), recordOf(whole));
    await trainWell(["--resume", run, "--steps=200", "--quiet"]);
    assertEquals(remainsOf(run), remainsOf(longer), name);
  }
  // What is there of one that was killed before it does not end it.
  const killed = copyRun(whole, `${dir}/killed-with-report`);
  leaveUnevaluated(killed);
  assertEquals(recordOf(killed)!.state, "running");
  await trainWell(["--resume", killed, "--quiet"]);
  assertEquals(remainsOf(killed), remainsOf(whole));
});

Deno.test("reports of cells say nothing of an experiment", async () => {
  const plan = `${dir}/reports.yaml`, out = `${dir}/reports`;
  Deno.writeTextFileSync(plan, PLAN.replace("seeds: 3", "seeds: 2"));
  const command = ["experiment", plan, "--out", out];
  assertEquals((await runCommand(command)).code, 0);
  const before = Deno.readTextFileSync(`${out}/results.csv`);
  const [first, second] = [0, 1].map((seed) =>
    `${out}/runs/a2c/CartPole-v1/seed-${seed}/report.html`
  );
  Deno.removeSync(first);
  Deno.writeTextFileSync(second, "<dt>Stopped</dt><dd>interrupted</dd>");
  const again = await runCommand(command);
  assertEquals([again.code, again.out.includes("Running")], [0, false]);
  assertEquals(Deno.readTextFileSync(`${out}/results.csv`), before);
});

Deno.test("a run that is killed between a checkpoint and its record resumes to the same record", async () => {
  const { checkpoints } = new CheckpointStore(`${whole}/checkpoints`).list();
  const steps = checkpoints.map(({ step }) => step);
  assert(steps.length >= 2);
  for (const at of steps) {
    const run = copyRun(whole, `${dir}/between-${at}`);
    new CheckpointStore(`${run}/checkpoints`).truncate(at);
    leaveUnevaluated(run);
    // As it was before that checkpoint.
    editRecord(run, ({ evaluations: { during } }) => ({
      ...{ step: 0, updates: 0, episodes: 0, checkpoints: [] },
      evaluations: { during: during.filter(({ step }) => step <= at) },
    }));
    await trainWell(["--resume", run, "--quiet"]);
    // Checkpoints hold seconds: `remainsOf` looks at their checksums.
    const [found, expected] = [run, whole].map((it) => {
      const { checkpoints, since: _, seconds: __, ...record } = readRecord(
        new RunFolder(it),
      )!;
      return { ...record, files: checkpoints.map(({ file }) => file) };
    });
    assertEquals(found, expected);
    assertEquals(remainsOf(run), remainsOf(whole));
    assertEvaluations(run);
  }
});
