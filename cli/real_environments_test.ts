import { readEpisodes, readProgress } from "@bellman/training";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertStringIncludes,
} from "@std/assert";
import { isAtariInstalled } from "@bellman/envs/atari";
import { hasGymnasium } from "@bellman/envs/gymnasium";
import { isMujocoInstalled } from "@bellman/envs/mujoco";
import { capture } from "./testdata/capture.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-real-" });

/** Trains a few steps; returns the run folder. */
async function train(name: string, ...args: string[]): Promise<string> {
  const out = `${dir}/${name}`;
  const outcome = await capture(
    "train",
    ...args,
    ...["--set=evaluationEpisodes=1", "--quiet", `--out=${out}`],
  );
  assertEquals(outcome.code, 0, outcome.err);
  return out;
}

/** Lines of a run's episodes, which hold nothing of the clock. */
async function episodesOf(run: string): Promise<string[]> {
  const text = await Deno.readTextFile(`${run}/episodes.csv`);
  return text.trimEnd().split("\n");
}

/** Records a run's policy: a picture that moves is written. */
async function assertPlays(run: string, name: string, ...args: string[]) {
  const gif = `${dir}/${name}.gif`;
  const { code, out, err } = await capture(
    "play",
    run,
    `--gif=${gif}`,
    ...args,
  );
  assertEquals(code, 0, err);
  assertStringIncludes(out, "wrote");
  assert((await Deno.stat(gif)).size > 1000);
}

Deno.test("environments in workers and in processes learn from the same episodes", async () => {
  const settings = [
    ...["a2c", "--env=CartPole-v1", "--steps=1200", "--backend=cpu"],
    "--set=numEnvs=4",
  ];
  const alone = await episodesOf(await train("sync", ...settings));
  assert(alone.length > 10);
  for (const where of ["workers", "subprocesses"]) {
    const hosts = ["--set=workers=2", `--set=vectorization=${where}`];
    const run = await train(where, ...settings, ...hosts);
    assertEquals(await episodesOf(run), alone);
    // The agent is judged anywhere, in this thread.
    const judged = await capture("eval", run, "--episodes=2");
    assertEquals(judged.code, 0, judged.err);
  }
});

Deno.test("a run keeps its number of groups", async () => {
  const run = await train(
    "groups",
    ...["a2c", "--env=CartPole-v1", "--steps=100", "--backend=cpu"],
    ...["--set=numEnvs=4", "--set=vectorization=workers"],
  );
  const config = await Deno.readTextFile(`${run}/config.yaml`);
  assertStringIncludes(config, `workers: ${navigator.hardwareConcurrency}`);
});

Deno.test("seconds need not be whole milliseconds", async () => {
  await train(
    "timeout",
    ...["a2c", "--env=CartPole-v1", "--steps=40", "--backend=cpu"],
    ...["--set=vectorization=workers", "--set=stepTimeout=16.1"],
  );
});

Deno.test("an environment of one's own is trained on by its module", async () => {
  const module = `${dir}/own.ts`;
  const envs = import.meta.resolve("@bellman/envs");
  await Deno.writeTextFile(
    module,
    `import { ChainEnv, register } from "${envs}";
register({ id: "OwnChain-v0", maxEpisodeSteps: 20, make: () => new ChainEnv() });`,
  );
  for (const where of ["sync", "workers"]) {
    await train(
      `own-${where}`,
      ...["a2c", "--env=OwnChain-v0", `--set=envModules=[${module}]`],
      ...["--steps=40", "--set=numEnvs=2", "--backend=cpu"],
      `--set=vectorization=${where}`,
    );
  }
});

Deno.test("a run in which an environment throws says how to resume", async () => {
  const module = `${dir}/wall.ts`, out = `${dir}/wall`;
  const envs = import.meta.resolve("@bellman/envs");
  await Deno.writeTextFile(
    module,
    `import { ChainEnv, register } from "${envs}";
let steps = 0;
class Wall extends ChainEnv {
  step(action) {
    if (++steps > 30) throw new RangeError("hit the wall");
    return super.step(action);
  }
}
register({ id: "Wall-v0", make: () => new Wall() });`,
  );
  const { code, err } = await capture(
    ...["train", "a2c", "--env=Wall-v0", `--set=envModules=[${module}]`],
    ...["--steps=100", "--set=numEnvs=1", "--backend=cpu", "--quiet"],
    ...["--unchecked", "--set=checkpointInterval=10", `--out=${out}`],
    "--set=evaluationInterval=0",
  );
  assertEquals(code, 1);
  assertEquals(
    err,
    `error: The run of a2c on Wall-v0 failed after 30 steps: hit the wall (wall.ts:5); resume from step 30 with: deno task train --resume ${out} --trust\n`,
  );
});

Deno.test("A2C trains on an Atari game, and play shows it [ALE]", {
  ignore: !isAtariInstalled(),
}, async () => {
  const run = await train(
    "atari",
    ...["a2c", "--env=ALE/Breakout-v5", "--steps=40"],
    ...["--set=numEnvs=4", "--set=network=cnn_small"],
    "--set=evaluationEnvKwargs={maxNumFramesPerEpisode: 200}",
  );
  await assertPlays(run, "breakout", "--every=10");
});

Deno.test(
  "ACER learns from lives of an Atari game, and logs whole games [ALE]",
  { ignore: !isAtariInstalled() },
  async () => {
    const run = await train(
      "acer-atari",
      ...["acer", "--env=ALE/Breakout-v5", "--steps=1600"],
      "--set=envKwargs={preprocessing: baselines, size: {width: 36, height: 36}}",
      ...["--set=numEnvs=4", "--set=network=cnn_small", "--set=replayRatio=1"],
      ...["--set=bufferSize=200", "--set=replayStart=40"],
      ...["--set=replayStorage=file", "--set=logInterval=1"],
      "--set=evaluationEnvKwargs={maxNumFramesPerEpisode: 200}",
    );
    const games = readEpisodes(`${run}/episodes.csv`);
    assert(games.length > 3);
    for (const game of games) {
      // Five lives, each an episode of what is learned from.
      assertEquals(game.lifeReturns!.length, 5);
      const sum = game.lifeReturns!.reduce((total, it) => total + it, 0);
      assertEquals(game.return, sum);
    }
    const mean = games.reduce((sum, it) => sum + it.return, 0) / games.length;
    const logged = readProgress(`${run}/progress.csv`)
      .map(({ statistics }) => statistics["rollout/return_mean"]).filter(
        Number.isFinite,
      );
    assertAlmostEquals(logged.at(-1)!, mean, 0.5);
  },
);

Deno.test("SAC trains on MuJoCo, and play shows it [MuJoCo]", {
  ignore: !isMujocoInstalled(),
}, async () => {
  const run = await train(
    "mujoco",
    ...["sac", "--env=InvertedPendulum-v5", "--steps=60"],
    ...["--set=learningStarts=40", "--set=hiddenSizes=[8]"],
    "--set=batchSize=8",
  );
  await assertPlays(run, "pendulum", "--width=60");
});

Deno.test("MuJoCo's engine in WebAssembly is loaded on request [MuJoCo]", {
  ignore: !isMujocoInstalled(),
}, async () => {
  for (const where of ["envKwargs", "evaluationEnvKwargs"]) {
    await train(
      `wasm-${where}`,
      ...["sac", "--env=InvertedPendulum-v5", "--steps=20"],
      `--set=${where}={engine: wasm}`,
    );
  }
});

Deno.test("A2C trains on an environment of Python's Gymnasium [Gymnasium]", {
  ignore: !hasGymnasium(),
}, async () => {
  const run = await train(
    "gymnasium",
    ...["a2c", "--env=gym:CartPole-v1", "--steps=400", "--backend=cpu"],
    "--set=numEnvs=2",
  );
  assert((await episodesOf(run)).length > 2);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
