/** Training on games in pages and programs, with parameters, from the command line. */
import { readRecord, RunFolder } from "@bellman/runs";
import type { EpisodeWriter } from "@bellman/runs/play";
import { recordPeople } from "@bellman/runs/training";
import { readProgress } from "@bellman/training";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { capture } from "../cli/testdata/capture.ts";
import { test as testWithGymnasium } from "../envs/gymnasium/testdata/python.ts";
import { programOf, testInPages } from "../envs/pages/testdata/games.ts";
import { bundle, servePage } from "../envs/pages/testdata/page_server.ts";
import { KILLER, killMidway, remainsOf, train, trainWell } from "./runs.ts";

const SMALL = [
  "ppo",
  "--steps=2048",
  "--set=numEnvs=4",
  "--set=numSteps=32",
  "--set=hiddenSizes=[8]",
  "--set=evaluationInterval=1024",
  "--set=evaluationEpisodes=4",
  "--set=checkpointInterval=512",
  "--set=logInterval=256",
  "--quiet",
];

const PARAMETERS =
  '--set=parameters={"speed":{"lessons":[{"value":[0.5,1],"until":1,"episodes":5},{"value":{"oneOf":[1,2]}}]}}';

const root = await Deno.makeTempDir({ prefix: "bellman-pages-" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));

/** Trains in one go, and killed and resumed: both must leave the same. */
async function assertResumed(name: string, args: string[]): Promise<string> {
  const whole = `${root}/${name}`, killed = `${whole}-killed`;
  await trainWell([...args, "--out", whole]);
  const module = `--set=algorithmModules=[${KILLER}]`;
  await killMidway([...args, module, "--out", killed], 1_300);
  await trainWell(["--resume", killed, "--quiet", "--trust"]);
  const [resumed, wanted] = [killed, whole].map(remainsOf);
  for (const part of ["state", "best", "episodes", "progress"] as const) {
    assertEquals(resumed[part], wanted[part]);
  }
  return whole;
}

testInPages(
  "a run in pages that cannot save, killed and resumed, ends alike",
  async () => {
    const game = new URL(
      "../envs/pages/testdata/chase_game.ts",
      import.meta.url,
    );
    await using server = await servePage(await bundle(game));
    const args = [`--env=page:${server.url}`, "--workers=2", PARAMETERS];
    const dir = await assertResumed("page", [...SMALL, ...args]);
    const lessons = readProgress(`${dir}/progress.csv`)
      .map(({ statistics }) => statistics["parameters/speed_lesson"])
      .filter((it) => it !== undefined);
    assertEquals([lessons[0], lessons.at(-1)], [1, 2]);
    const { state } = readRecord(new RunFolder(dir))!;
    assertEquals(state, "ended");
  },
);

Deno.test("a run in programs, killed and resumed, ends alike", () =>
  assertResumed("program", [
    ...SMALL,
    `--env=${programOf("counter_game")}`,
  ]).then(() => {}));

Deno.test("a run of an own environment has parameters, and ends alike", async () => {
  const module = new URL("testdata/jumping_chase.ts", import.meta.url).pathname;
  const own = [`--set=envModules=[${module}]`, "--env=JumpingChase-v0"];
  for (const more of [[], ["--set=vectorization=workers", "--workers=2"]]) {
    const args = [...SMALL, ...own, ...more, PARAMETERS];
    await assertResumed(`own-${more.length}`, args);
  }
});

Deno.test("the program of a run from elsewhere is not started unasked", async () => {
  const dir = `${root}/program`;
  const { code, err } = await train(["--resume", dir, "--quiet"]);
  assertEquals(code, 2);
  assertMatch(err, /would start ".*counter_game.ts.*"; read that code first/);
});

Deno.test("runs of an experiment play in programs, too", async () => {
  const dir = `${root}/seeds`, env = `--env=${programOf("counter_game")}`;
  const { code, out, err } = await train(
    [...SMALL, env, "--seeds=2", "--out", dir],
  );
  assertEquals(code, 0, err);
  assertMatch(out, /2 of 2 cells finished/);
});

Deno.test("a person who plays alone is recorded, and cloned, and the clone recorded", async () => {
  const env = `--env=${programOf("chase_game")}`, out = `${root}/demo`;
  const args = ["record", env, "--episodes=3", `--out=${out}`];
  const { code, out: told, err } = await capture(...args);
  assertEquals(code, 0, err);
  assertMatch(told, /^Recorded 3 episodes, \d+ steps/);
  const saved: number[] = [];
  const onStep = ({ before, episodes }: EpisodeWriter) => {
    const { total_episodes: whole } = JSON.parse(
      Deno.readTextFileSync(`${out}/data/metadata.json`),
    );
    saved.push(before + episodes - whole);
  };
  const id = programOf("chase_game");
  await recordPeople(id, { out, episodes: 2, append: true, onStep });
  // An episode that ends is written before the next step.
  assertEquals(saved.filter((it) => it > 0), [1, 1]);
  await trainWell([
    ...["bc", `--data=${out}`, env, "--steps=100", "--quiet"],
    ...["--set=evaluationEpisodes=2", `--out=${root}/clone`],
  ]);
  const again = await capture(
    ...["record", `${root}/clone`, "--episodes=2", "--append", "--trust"],
    `--out=${out}`,
  );
  assertMatch(again.out, /^Recorded 2 episodes, 40 steps/, again.err);
  const played = await capture("play", `${root}/clone`, "--trust");
  assertEquals(played.code, 2);
  assertMatch(
    played.err,
    /Cannot draw program:.*: a game is drawn where it runs/,
  );
});

Deno.test("agents of one world are evaluated in whole worlds", async () => {
  const env = `--env=${programOf("counter_game")}`, dir = `${root}/agents`;
  const agents = ["--set=envKwargs={agents: 3}", "--set=numEnvs=6"];
  const rest = SMALL.filter((it) => it !== "--set=numEnvs=4");
  await trainWell([...rest, env, "--workers=2", ...agents, "--out", dir]);
  const evaluated = ["eval", dir, "--episodes=5", "--trust"];
  const { code, out, err } = await capture(...evaluated);
  assertEquals(code, 0, err);
  assertMatch(out, /over 5 episodes/);
});

Deno.test("a parameter that no episode looks at is told", async () => {
  const { err, code } = await train([
    ...SMALL.filter((it) => it !== "--quiet"),
    `--env=${programOf("counter_game")}`,
    "--set=parameters={shift: 0, sped: 2}",
    `--out=${root}/unread`,
  ]);
  assertEquals(code, 0, err);
  assertMatch(err, /does not look at sped, which parameters sets/);
});

const REFUSED: Record<string, [string[], string]> = {
  "no address": [["--env=page:game.html"], "expected the address of a page"],
  "no command": [["--env=program:"], "expected the address of a page"],
  "a limit": [
    ["--env=page:http://127.0.0.1:1/", "--set=maxEpisodeSteps=9"],
    "Cannot use maxEpisodeSteps with page:http://127.0.0.1:1/",
  ],
  "workers": [
    ["--env=program:true", "--set=vectorization=workers"],
    "expected sync, as games are processes of their own",
  ],
  "modules": [
    ["--env=program:true", "--set=envModules=[game.ts]"],
    "the game is what its address or command names",
  ],
  "videos": [
    ["--env=program:true", "--every=99"],
    "Cannot use videoInterval with program:true: a game is drawn where it runs",
  ],
  "a program that ends": [
    ["--env=program:exit 3"],
    "Cannot start environments 0 to 3: its program ended with code 3",
  ],
  "nobody": [
    ["--env=program:sleep 60", "--set=startTimeout=0.5"],
    "no program connected to ws://127.0.0.1:",
  ],
  "parameters of what has none": [
    ["--env=CartPole-v1", "--set=parameters={speed: 2}"],
    "Cannot set parameters of CartPole-v1, whose episodes take none",
  ],
  "a last lesson that ends": [
    [
      "--env=program:true",
      '--set=parameters={"a":{"lessons":[{"value":1,"until":3}]}}',
    ],
    "Cannot set the parameter 'a': its last lesson has until: 3, expected none",
  ],
};

for (const [what, [args, line]] of Object.entries(REFUSED)) {
  Deno.test(`games that cannot be are one line: ${what}`, async () => {
    const dir = `${root}/refused`;
    const { code, err } = await train([...SMALL, ...args, "--out", dir]);
    assertEquals(code, 2, err);
    assert(err.includes(line), err);
    const [first, ...rest] = err.trimEnd().split("\n").filter((it) =>
      !it.startsWith("Warning")
    );
    assertMatch(first, /^error: /);
    assertEquals(rest, []);
  });
}

testWithGymnasium("an environment of Gymnasium has no parameters", async () => {
  const { code, err } = await train([
    ...SMALL,
    "--env=gym:CartPole-v1",
    "--set=parameters={speed: 2}",
    `--out=${root}/gymnasium`,
  ]);
  assertEquals([code, err], [
    2,
    "error: Cannot set parameters of gym:CartPole-v1, whose episodes take none: expected an environment whose reset takes parameters, or envKwargs\n",
  ]);
});
