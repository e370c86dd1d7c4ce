import { hasGymnasium } from "@bellman/envs/gymnasium";
import { readEpisodes } from "@bellman/training";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { capture } from "./testdata/capture.ts";
import { resumeEqual } from "./testdata/resume_equal.ts";
import { testsWith } from "../tests/testdata/tests_with.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-python-" });
const file = `${dir}/own_maze.py`;
await Deno.writeTextFile(
  file,
  `import gymnasium as gym
import numpy as np


class Walk(gym.Env):
    observation_space = gym.spaces.Box(-9, 9, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.normal()
        return np.array([self.at], np.float32), {}

    def step(self, action):
        self.at += 2 * int(action) - 1
        seen = np.array([self.at], np.float32)
        return seen, 1.0, abs(self.at) > 6, False, {}


class Scaled(gym.RewardWrapper):
    def __init__(self, env, by=1):
        super().__init__(env)
        self.by = by

    def reward(self, reward):
        return self.by * reward


gym.register("Walk-v0", "own_maze:Walk", max_episode_steps=15)
`,
);

const WALK = ["--env=gym:Walk-v0", `--set=envModules=[${file}]`];
const WRAPPERS =
  `--set=wrappers=[{${file}:Scaled: {by: 10}}, gymnasium.wrappers.TimeAwareObservation]`;
const TINY = [
  ...["--backend=cpu", "--set=evaluationEpisodes=1", "--set=numEnvs=2"],
  ...["--set=learningRateSchedule=constant", "--quiet"],
];

const test = testsWith("Gymnasium", hasGymnasium());

async function train(...args: string[]): Promise<string> {
  const out = await Deno.makeTempDir({ dir });
  await Deno.remove(out);
  const { code, err } = await capture(
    ...["train", ...WALK, WRAPPERS, ...TINY, ...args, `--out=${out}`],
  );
  assertEquals([code, err], [0, ""]);
  return out;
}

test("a file of Python's and its wrappers are kept, and resumed exactly", async () => {
  const before = Deno.cwd();
  const settings = ["--steps=400", "--set=checkpointInterval=100"];
  Deno.chdir(dir);
  const [whole, cut] = [await train(...settings), await train(...settings)];
  Deno.chdir(before);
  const config = parse(await Deno.readTextFile(`${cut}/config.yaml`));
  const { envModules, wrappers } = config as Record<string, unknown>;
  assertEquals(envModules, [file]);
  assertEquals(wrappers, [
    { [`${file}:Scaled`]: { by: 10 } },
    "gymnasium.wrappers.TimeAwareObservation",
  ]);
  await resumeEqual(cut, whole, "--trust");
  const judged = await capture("eval", cut, "--episodes=2", "--trust");
  assertEquals(judged.code, 0, judged.err);
});

test("paths of Python's files are kept whole", async () => {
  const before = Deno.cwd();
  Deno.chdir(dir);
  const args = ["--env=gym:Walk-v0", "--set=envModules=[./own_maze.py]"];
  const out = `${dir}/relative`;
  const { code, err } = await capture(
    ...["train", ...args, "--set=wrappers=[own_maze.py:Scaled]", ...TINY],
    ...["--steps=64", `--out=${out}`],
  );
  Deno.chdir(before);
  assertEquals([code, err], [0, ""]);
  const judged = await capture("eval", out, "--episodes=1", "--trust");
  assertEquals(judged.code, 0, judged.err);
});

test("workers that learn have the wrappers, too", async () => {
  const out = `${dir}/a3c`;
  const { code, err } = await capture(
    ...["train", "a3c", ...WALK, WRAPPERS, "--workers=2", "--steps=300"],
    ...["--set=evaluationEpisodes=1", "--quiet", `--out=${out}`],
  );
  assertEquals([code, err], [0, ""]);
  const episodes = readEpisodes(`${out}/episodes.csv`);
  assert(episodes.length > 5);
  // Ten for each step.
  for (const it of episodes) assertEquals(it.return, 10 * it.length);
});

test("a run wraps nothing unless it is trusted, in its project neither", async () => {
  const run = await train("--steps=64");
  const before = Deno.cwd();
  for (const folder of [before, dir]) {
    Deno.chdir(folder);
    const { code, err } = await capture("eval", run, "--episodes=1");
    Deno.chdir(before);
    assertEquals(code, 2);
    assertStringIncludes(
      err,
      `would import ${file}, import ${file}:Scaled, import gymnasium.wrappers.TimeAwareObservation; read that code first, then add --trust`,
    );
  }
  const trusted = await capture("eval", run, "--episodes=1", "--trust");
  assertEquals(trusted.code, 0, trusted.err);
});

const WRONG: [name: string, args: string[], says: string][] = [
  [
    "a module of TypeScript for an environment of Python's",
    ["--env=gym:Walk-v0", "--set=envModules=[./walk.ts]"],
    "Cannot import ./walk.ts, which envModules names: expected a .py file or the name of a Python module, for an environment of gym:",
  ],
  [
    "a file of Python's for an environment that is not",
    ["--env=Walk-v0", "--set=envModules=[./walk.py]"],
    "Cannot import ./walk.py, which envModules names: Python's files register environments of gym:, as in --env gym:Id-v0",
  ],
  [
    "a file in front of an id",
    ["--env=gym:./walk.py:Walk-v0"],
    "Cannot use the environment 'gym:./walk.py:Walk-v0': name the file in envModules, as in --env gym:Walk-v0 --set envModules=[./walk.py]",
  ],
  [
    "wrappers of an environment that is not Python's",
    ["--env=CartPole-v1", "--set=wrappers=[a:B]"],
    "Cannot use wrappers with CartPole-v1: they are Python's, for environments of gym:, such as gym:CartPole-v1; a module of envModules may wrap another",
  ],
  [
    "a wrapper with arguments that are none",
    ["--env=gym:CartPole-v1", "--set=wrappers=[{a:B: 3}]"],
    `Cannot use the wrapper {"a:B":3}: expected module:Class, or one with its arguments, as {'gymnasium.wrappers:TimeAwareObservation': {flatten: true}}`,
  ],
  [
    "wrappers that are no list",
    ["--env=gym:CartPole-v1", "--set=wrappers=a:B"],
    'Cannot use wrappers = "a:B" of the command line: expected a list, each a text or a mapping',
  ],
];

for (const [name, args, says] of WRONG) {
  Deno.test(`${name} is refused in one line`, async () => {
    const out = `${dir}/never`;
    const { code, err } = await capture("train", ...args, `--out=${out}`);
    assertEquals([code, err], [2, `error: ${says}\n`]);
  });
}

test("actions of several parts are refused in one line", async () => {
  const hostile = new URL(
    "../envs/gymnasium/testdata/hostile_env.py",
    import.meta.url,
  );
  for (const algorithm of ["a2c", "sac"]) {
    const { code, err } = await capture(
      ...["train", algorithm, "--env=gym:Hostile-v0", `--out=${dir}/never`],
      ...[`--set=envModules=[${hostile}]`, "--set=envKwargs={acts: pair}"],
    );
    assertEquals([code, err], [
      2,
      `error: Cannot train ${algorithm} on gym:Hostile-v0, whose actions are a tuple: expected one box, discrete, multiDiscrete or multiBinary space, which a wrapper can make of it\n`,
    ]);
  }
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
