/** Settings that SAC had in earlier versions: runs and files with their defaults go on. */
import { readRecord, RunFolder } from "@bellman/runs";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { FORMER } from "../algorithms/sac/testdata/former_settings.ts";
import {
  copyRun,
  editCheckpoints,
  editRecord,
  filesUnder,
  remainsOf,
  runCommand,
  train,
  trainWell,
} from "./runs.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-former-settings-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

const whole = `${dir}/whole`;
await trainWell([
  ...["sac", "--env=Pendulum-v1", "--preset=none", "--backend=cpu", "--quiet"],
  ...["--set=hiddenSizes=[8]", "--set=batchSize=8", "--set=bufferSize=400"],
  ...["--set=learningStarts=20", "--set=maxEpisodeSteps=20"],
  ...["--set=evaluationEpisodes=1", "--set=checkpointInterval=30"],
  ...["--steps=60", `--out=${whole}`],
]);

const textOf = (settings: object) =>
  Object.entries(settings).map(([key, it]) => `${key}: ${it}\n`).join("");

/** A copy of the run, as a version left it that had more settings. */
function formerRun(name: string, settings: Record<string, unknown>): string {
  const run = copyRun(whole, `${dir}/${name}`), path = `${run}/config.yaml`;
  const before = (text: string) => text + textOf(settings);
  Deno.writeTextFileSync(path, before(Deno.readTextFileSync(path)));
  editCheckpoints(run, before);
  editRecord(run, (record) => ({
    settings: { ...record.settings, ...settings } as typeof record.settings,
  }));
  return run;
}

Deno.test("a run of a version with more settings is evaluated, exported and prolonged", async () => {
  const run = formerRun("run", FORMER);
  for (
    const command of [
      ["eval", run, "--episodes=1"],
      ["play", run, "--episodes=1", `--gif=${dir}/play.gif`],
      ["export", run, `--out=${dir}/policy.onnx`],
      ["share", run, "--out", `${dir}/shared`],
    ]
  ) {
    const { code, err } = await runCommand(command);
    assertEquals(code, 0, err);
  }
  const same = copyRun(whole, `${dir}/same`);
  for (const it of [run, same]) {
    const { code, err } = await train(["--resume", it, "--steps=90"]);
    assertEquals([code, err.includes("edited")], [0, false], err);
  }
  const [found, wanted] = [run, same].map(remainsOf);
  assertEquals([found.state, found.best], [wanted.state, wanted.best]);
  const { settings, step } = readRecord(new RunFolder(run))!;
  assertEquals([step, settings.tau], [90, 0.005]);
});

Deno.test("a run with another value is read, trained no further, and stays as it is", async () => {
  const run = formerRun("value", { ...FORMER, targetUpdateInterval: 2 });
  const before = filesUnder(run);
  for (
    const command of [
      ["eval", run, "--episodes=1"],
      ["play", run, "--episodes=1", `--gif=${dir}/value.gif`],
      ["plot", run, `--out=${dir}/value.svg`],
    ]
  ) {
    const { code, err } = await runCommand(command);
    assertEquals(code, 0, err);
  }
  const { code, err } = await train(["--resume", run, "--steps=90"]);
  assertEquals([code, err], [
    2,
    "error: Cannot use targetUpdateInterval = 2 of this run: it is gone; choose a smaller tau\n",
  ]);
  assertEquals(filesUnder(run), before);
});

Deno.test("a run whose agent was another one is one clear line", async () => {
  const run = formerRun("critics", { ...FORMER, critics: "value" });
  editCheckpoints(run, (text) => text, (state) => {
    const { algorithm } = state as { algorithm: { learned: object } };
    Reflect.deleteProperty(algorithm.learned, "targets");
  });
  for (
    const command of [["eval", run], ["train", "--resume", run, "--steps=90"]]
  ) {
    const { code, err } = await runCommand(command);
    assertEquals([code, err], [
      2,
      'error: Cannot use critics = "value" of this run: a value function is learned by sac-v1 (@bellman/sac-v1)\n',
    ]);
  }
});

Deno.test("files, --set and plans drop what is at its default", async () => {
  const file = `${dir}/sac.yaml`;
  Deno.writeTextFileSync(file, textOf({ algorithm: "sac", ...FORMER }));
  const sets = Object.entries(FORMER).map(([key, it]) => `--set=${key}=${it}`);
  for (const words of [["--config", file], ["sac", ...sets]]) {
    const { code, out, err } = await runCommand([
      ...["train", ...words, "--env=Pendulum-v1", "--print-config"],
    ]);
    assertEquals([code, err], [0, ""]);
    const config = parse(out) as Record<string, unknown>;
    assertEquals(Object.keys(FORMER).filter((it) => it in config), []);
  }
  const plan = `${dir}/plan.yaml`;
  const planOf = (set: object) => {
    Deno.writeTextFileSync(
      plan,
      JSON.stringify({
        environments: ["Pendulum-v1"],
        variants: { sac: { set } },
      }),
    );
    return runCommand(["experiment", plan, "--print"]);
  };
  assertEquals((await planOf(FORMER)).code, 0);
  const refused = await planOf({ policy: "mixture" });
  assertEquals(refused.code, 2);
  assertStringIncludes(
    refused.err,
    "it is a setting of sac-v1 (@bellman/sac-v1)",
  );
});
