/** Recorded data that cannot be learned from: one line, exit code 2, nothing written. */
import { writeMinari } from "@bellman/buffers/datasets";
import { openFile } from "@bellman/buffers/hdf5";
import { makeVec, Recorder } from "@bellman/envs";
import { saveNpz } from "@bellman/files/npz";
import type { Episode } from "@bellman/types";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { KILLER, killMidway, runCommand } from "./runs.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-recorded-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});

const env = new Recorder(makeVec("CartPole-v1", { numEnvs: 2 }));
env.reset({ seed: 1 });
while (env.episodes.length < 12) {
  env.step(Int32Array.of(env.episodes.length % 2, 1));
}
const episodes = [...env.episodes];
const poles = `${dir}/poles`;
await writeMinari(poles, episodes, env);

/** Copies the data of poles to a folder. */
async function copyPoles(name: string): Promise<string> {
  const to = `${dir}/${name}`;
  await Deno.mkdir(`${to}/data`, { recursive: true });
  for (const file of ["main_data.hdf5", "metadata.json"]) {
    await Deno.copyFile(`${poles}/data/${file}`, `${to}/data/${file}`);
  }
  return to;
}

/** Trains, which must fail by a line with some text, and write nothing. */
async function refused(
  args: readonly string[],
  ...texts: string[]
): Promise<void> {
  const out = `${dir}/never`;
  const { code, err } = await runCommand([
    ...["train", ...args, "--steps=200", "--quiet", `--out=${out}`],
    "--set=evaluationEpisodes=1",
  ]);
  const lines = err.trimEnd().split("\n");
  assertEquals([code, lines.length], [2, 1], err);
  for (const text of texts) assertStringIncludes(err, text);
  assertEquals(existsSync(out), false);
}

Deno.test("data of another environment names both shapes", async () => {
  await refused(
    ["bc", `--data=${poles}`, "--env=Pendulum-v1"],
    "its observations are a box of shape [4], expected a box of shape [3]",
  );
  await refused(
    ["iql", `--data=${poles}`, "--env=MountainCar-v0"],
    "its observations are a box of shape [4], expected a box of shape [2]",
  );
  const { observationSpace } = env;
  const three = `${dir}/three`;
  const actionSpace = { type: "discrete", n: 3 } as const;
  await writeMinari(three, episodes, { observationSpace, actionSpace });
  await refused(
    ["bc", `--data=${three}`, "--env=CartPole-v1"],
    "its actions are a discrete space from 0 to 2, expected a discrete space from 0 to 1",
  );
});

/** Writes an npz file of episodes of Pendulum that end every fifth step. */
async function pendulums(
  name: string,
  change: (arrays: Record<string, Float32Array>) => void,
): Promise<string> {
  const path = `${dir}/${name}.npz`, rows = 20;
  const arrays = {
    observations: new Float32Array(3 * rows),
    actions: new Float32Array(rows),
    rewards: Float32Array.from({ length: rows }, (_, i) => i),
    terminals: Float32Array.from({ length: rows }, (_, i) => +(i % 5 === 4)),
  };
  change(arrays);
  const shaped = Object.entries(arrays).map(([key, data]) => {
    const size = data.length / rows;
    const isFlat = key === "rewards" || key === "terminals";
    return [key, { data, shape: isFlat ? [rows] : [rows, size] }];
  });
  await saveNpz(Object.fromEntries(shaped), path);
  return path;
}

Deno.test("numbers that cannot be are named by field, episode and step", async () => {
  const data = async (
    name: string,
    change: (arrays: Record<string, Float32Array>) => void,
  ) => [
    ...["bc", "--env=Pendulum-v1"],
    `--data=${await pendulums(name, change)}`,
  ];
  await refused(
    await data("nan", ({ observations }) => observations[3 * 7 + 1] = NaN),
    ...["episode 1", "observations", "step 2", "NaN"],
  );
  await refused(
    await data("infinite", ({ rewards }) => rewards[11] = Infinity),
    ...["episode 2", "rewards", "step 1", "Infinity"],
  );
  await refused(
    await data("outside", ({ actions }) => actions[19] = 2.5),
    ...["episode 3", "actions", "step 4", "2.5"],
  );
});

Deno.test("an action that its mask forbids is named", async () => {
  const game = new Recorder(makeVec("TicTacToe-v0", { numEnvs: 1 }));
  game.reset({ seed: 0 });
  while (game.episodes.length < 4) {
    game.step(Int32Array.of(game.actionMasks!.indexOf(1)));
  }
  const wrong = game.episodes.map((it, i): Episode => {
    const actions = Int32Array.from(it.actions as Int32Array);
    // The second move takes the first one's place.
    if (i === 2) actions[1] = actions[0];
    return { ...it, actions };
  });
  await writeMinari(`${dir}/forbidden`, wrong, game);
  await refused(
    ["bc", `--data=${dir}/forbidden`, "--env=TicTacToe-v0"],
    ...["episode 2", "actions at step 1", "which the action mask forbids"],
  );
});

Deno.test("files that are not data are named", async () => {
  const train = (data: string) => ["bc", `--data=${data}`, "--env=CartPole-v1"];
  await refused(
    train(`${dir}/nowhere`),
    `Cannot open the data ${dir}/nowhere: there is no such file or folder`,
  );
  await Deno.mkdir(`${dir}/empty`);
  await refused(train(`${dir}/empty`), "expected data/main_data.hdf5 in it");
  const text = await copyPoles("text");
  await Deno.writeTextFile(`${text}/data/main_data.hdf5`, "no HDF5");
  await refused(train(text), "main_data.hdf5");
  const bare = await copyPoles("bare");
  await Deno.remove(`${bare}/data/metadata.json`);
  await refused(train(bare), "expected metadata.json beside it");
  const none = await copyPoles("none");
  (await openFile(`${none}/data/main_data.hdf5`, "w")).close();
  await refused(train(none), "without episodes");
});

Deno.test("an algorithm and data that do not go together say what does", async () => {
  const data = `--data=${poles}`;
  await refused(
    ["ppo", data, "--env=CartPole-v1"],
    "Cannot train ppo on data: expected bc",
    "--init-from",
  );
  await refused(
    ["td3", data, "--env=CartPole-v1", "--set=dataShare=1"],
    ...["actions of type discrete", "IQL"],
  );
  await refused(["bc", "--env=CartPole-v1"], "Cannot train bc without data");
  await refused(
    ["td3", "--env=Pendulum-v1", "--set=dataShare=1"],
    "Cannot train td3 with dataShare: 1 and no data",
  );
  for (const name of ["normalizeReward", "clipReward"]) {
    await refused(
      ["dqn", data, "--env=CartPole-v1", `--set=${name}=true`],
      `Cannot train on data with ${name}`,
    );
  }
});

Deno.test("iql wants rewards that differ, and a scale without", async () => {
  const flat = `${dir}/flat`;
  const alike = episodes.map((it): Episode => ({
    ...it,
    rewards: new Float64Array(it.rewards.length),
  }));
  await writeMinari(flat, alike, env);
  await refused(
    ["iql", `--data=${flat}`, "--env=CartPole-v1"],
    "Cannot run IQL on such data: all 12 episodes have the return 0",
    "or BC",
  );
});

Deno.test("a holdout leaves something to learn from, and may be 0", async () => {
  const one = `${dir}/one`;
  await writeMinari(one, episodes.slice(0, 1), env);
  const train = ["bc", `--data=${one}`, "--env=CartPole-v1"];
  await refused(train, "of 1 episode: none is left to learn from");
  await refused(
    ["bc", `--data=${poles}`, "--env=CartPole-v1", "--set=holdout=1"],
    "of 12 episodes: none is left to learn from",
  );
  const { code, err } = await runCommand([
    ...["train", ...train, "--set=holdout=0", "--steps=10", "--quiet"],
    ...["--set=evaluationEpisodes=1", `--out=${dir}/one-run`],
  ]);
  assertEquals(code, 0, err);
});

Deno.test("a run does not go on with other data", async () => {
  const data = await copyPoles("changing"), out = `${dir}/changed`;
  await killMidway([
    ...["bc", `--data=${data}`, "--env=CartPole-v1", "--steps=400", "--quiet"],
    ...["--set=checkpointInterval=50", "--set=evaluationEpisodes=1"],
    ...[`--set=algorithmModules=[${KILLER}]`, `--out=${out}`],
  ], 200);
  const { observationSpace, actionSpace } = env;
  const more = { observationSpace, actionSpace, append: true };
  await writeMinari(data, episodes.slice(0, 1), more);
  const before = await Deno.readTextFile(`${out}/progress.csv`);
  const { code, err } = await runCommand(["train", "--resume", out, "--quiet"]);
  assertEquals(code, 2, err);
  assertEquals(err.trimEnd().split("\n").length, 1, err);
  assertStringIncludes(err, "other data");
  assertEquals(await Deno.readTextFile(`${out}/progress.csv`), before);
  assert(existsSync(`${out}/checkpoints`));
});

Deno.test("several seeds go on with data of a path from here", async () => {
  const args = [
    ...["train", "bc", `--data=${relative(Deno.cwd(), poles)}`, "--quiet"],
    ...["--env=CartPole-v1", "--steps=10", "--set=evaluationEpisodes=1"],
    `--out=${dir}/seeds`,
  ];
  for (const seeds of [1, 2]) {
    const { code, err } = await runCommand([...args, `--seeds=${seeds}`]);
    assertEquals(code, 0, err);
  }
  assertEquals(
    [...Deno.readDirSync(`${dir}/seeds/runs/bc/CartPole-v1`)].length,
    2,
  );
});
