/** Commands that act with a trained agent of ACER, of each of its kinds. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { copyRun, logsOf, remainsOf, runCommand, trainWell } from "./runs.ts";

const KINDS: Record<string, string[]> = {
  "discrete": ["--env=CartPole-v1"],
  "box": ["--env=Pendulum-v1"],
  "recurrent, discrete": ["--env=CartPole-v1", "--set=network=lstm"],
  "recurrent, box": ["--env=Pendulum-v1", "--set=network=lnlstm"],
  "segments by priorities, in a file": [
    ...["--env=CartPole-v1", "--set=replay=proportional"],
    "--set=replayStorage=file",
  ],
};

for (const [name, settings] of Object.entries(KINDS)) {
  Deno.test(`eval, play and export take a run of ACER: ${name}`, async () => {
    const root = await Deno.makeTempDir({ prefix: "bellman-acer-" });
    try {
      const run = `${root}/run`;
      await trainWell([
        ...["acer", ...settings, "--steps=480", "--set=numEnvs=2"],
        ...["--set=maxEpisodeSteps=30", "--set=hiddenSizes=[8]"],
        ...["--set=lstmSize=4", "--set=bufferSize=200", "--set=numSteps=5"],
        ...["--set=replayStart=40", "--set=evaluationEpisodes=2"],
        ...["--quiet", `--out=${run}`],
      ]);
      const evaluate = async (...options: string[]) => {
        const { code, out, err } = await runCommand(
          ["eval", run, "--episodes=3", "--json", ...options],
        );
        assertEquals(code, 0, err);
        return JSON.parse(out).returns as number[];
      };
      const returns = await evaluate();
      assertEquals(returns.length, 3);
      assertEquals(await evaluate(), returns);
      assert(String(await evaluate("--stochastic")) !== String(returns));

      const gif = `${root}/play.gif`;
      const played = await runCommand(["play", run, "--gif", gif]);
      assertEquals(played.code, 0, played.err);
      assert(Deno.statSync(gif).size > 1000);

      const file = `${root}/exported.onnx`;
      const exported = await runCommand(["export", run, "--out", file]);
      assertEquals(exported.code, 0, exported.err);
      assertMatch(exported.out, /^acer on .*: wrote /);
      assertEquals(
        Deno.readFileSync(file),
        Deno.readFileSync(`${run}/policy.onnx`),
      );
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}

Deno.test("a run with segments in a file resumes with them, and not without", async () => {
  const root = await Deno.makeTempDir({ prefix: "bellman-acer-" });
  try {
    const whole = `${root}/whole`, stopped = `${root}/stopped`;
    const lost = `${root}/lost`, broken = `${root}/broken`;
    const settings = [
      ...["acer", "--env=CartPole-v1", "--set=numEnvs=2", "--steps=1200"],
      ...["--set=hiddenSizes=[8]", "--set=replayStorage=file"],
      ...["--set=bufferSize=200", "--set=replayStart=40"],
      ...["--set=evaluationEpisodes=2", "--set=checkpointInterval=300"],
      ...["--set=evaluationInterval=0", "--quiet"],
    ];
    await trainWell([...settings, `--out=${whole}`]);
    const inMemory = `${root}/memory`;
    await trainWell([
      ...settings.map((it) => it.replace("Storage=file", "Storage=memory")),
      `--out=${inMemory}`,
    ]);
    assertEquals(logsOf(inMemory), logsOf(whole));
    copyRun(whole, stopped);
    // Killed after the checkpoint at 900 steps.
    Deno.removeSync(`${stopped}/report.html`);
    Deno.removeSync(`${stopped}/checkpoints/step_000001200.safetensors`);
    for (const copy of [lost, broken]) copyRun(stopped, copy);
    await trainWell(["--resume", stopped, "--quiet"]);
    assertEquals(remainsOf(stopped), remainsOf(whole));

    Deno.removeSync(`${lost}/replay.rows`);
    Deno.truncateSync(`${broken}/replay.rows`, 5000);
    for (
      const [run, says] of [
        [lost, "segments from a file: expected a save that it has, of none"],
        [broken, "replay.rows"],
      ]
    ) {
      const { code, err } = await runCommand(["train", "--resume", run]);
      assertEquals(code, 2, `${run}: ${err}`);
      assertStringIncludes(err, says);
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
