/** Games on the command line: training, evaluation, leagues, resuming. */
import { readProgress } from "@bellman/training";
import type { League } from "@bellman/runs/league";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { run } from "../cli/command_line.ts";
import { capture } from "../cli/testdata/capture.ts";
import { KILLER, killMidway, remainsOf, trainWell } from "./runs.ts";

const SMALL = [
  "ppo",
  "--env=TicTacToe-v0",
  "--steps=2048",
  "--preset=none",
  "--set=numEnvs=16",
  "--set=numSteps=16",
  "--set=hiddenSizes=[8]",
  "--set=opponents={window: 3, snapshotEvery: 512, swapEvery: 128}",
  "--set=evaluationEpisodes=8",
  "--set=evaluationInterval=1024",
  "--set=checkpointInterval=512",
  "--set=logInterval=256",
  "--quiet",
];

const root = await Deno.makeTempDir({ prefix: "bellman-games-" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));

let trained: Promise<string> | undefined;

/** Folder of a run that is trained once. */
function trainedRun(): Promise<string> {
  const dir = `${root}/run`;
  return trained ??= trainWell([...SMALL, "--out", dir]).then(() => dir);
}

Deno.test("a run of a game logs ratings and is evaluated against a player", async () => {
  const dir = await trainedRun();
  const rows = readProgress(`${dir}/progress.csv`);
  const { statistics } = rows.findLast((it) =>
    "self_play/elo" in it.statistics
  )!;
  assert(statistics["self_play/elo"] > 1000);
  assert(statistics["self_play/win_rate"] >= 0);
  assert(statistics["self_play/opponent_age"] >= 0);
  for (const against of ["random", "scripted", dir]) {
    const { code, out, err } = await capture(
      ...["eval", dir, "--episodes=8", `--against=${against}`],
    );
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, "ppo on TicTacToe-v0");
  }
});

Deno.test("options of self-play may be among those of the environment", async () => {
  const dir = `${root}/seat`;
  await trainWell([...SMALL, "--set=envKwargs={seat: first}", "--out", dir]);
  const { code, err } = await capture("eval", dir, "--episodes=2");
  assertEquals([code, err], [0, ""]);
});

Deno.test("a killed run of a game goes on with its opponents", async () => {
  const whole = await trainedRun(), dir = `${root}/killed`;
  const module = `--set=algorithmModules=[${KILLER}]`;
  await killMidway([...SMALL, module, "--out", dir], 1300);
  await trainWell(["--resume", dir, "--quiet"]);
  const [resumed, wanted] = [dir, whole].map(remainsOf);
  assertEquals(resumed.state, wanted.state);
  assertEquals(resumed.best, wanted.best);
});

Deno.test("a league that was ended goes on and gives the same file", async () => {
  const dir = await trainedRun(), path = `${root}/league.json`;
  const league = (out: string, ...more: string[]) =>
    capture("league", dir, "--games=20", `--out=${out}`, ...more);
  const { code, out, err } = await league(path, `--picture=${root}/league.svg`);
  assertEquals(code, 0, err);
  assertStringIncludes(out, "scripted");
  assertStringIncludes(err, "10/15, ");
  assertStringIncludes(
    await Deno.readTextFile(`${root}/league.svg`),
    "run@512",
  );
  const text = await Deno.readTextFile(path);
  const whole = JSON.parse(text) as League;
  assertEquals(whole.matches.length, 15);
  assertEquals(whole.table.map(({ name }) => name).toSorted(), [
    ...["random", "run", "run@0", "run@1024", "run@512", "scripted"],
  ]);
  const random = whole.table.find(({ name }) => name === "random")!;
  assertEquals([random.rating, ...random.interval], [1200, 1200, 1200]);
  for (const kept of [0, 7, 15]) {
    const other = `${root}/ended-${kept}.json`;
    const ended = {
      ...whole,
      matches: whole.matches.slice(0, kept),
      table: [],
    };
    await Deno.writeTextFile(other, JSON.stringify(ended));
    assertEquals((await league(other)).code, 0);
    assertEquals(await Deno.readTextFile(other), text);
  }
  for (const damaged of ["null", "{", '"league"', "{}"]) {
    const other = `${root}/damaged.json`;
    await Deno.writeTextFile(other, damaged);
    const { code, err } = await league(other);
    assertEquals([code, err.trim().split("\n").length], [2, 1], err);
    assertStringIncludes(err, "Cannot go on with the league");
    assertEquals(await Deno.readTextFile(other), damaged);
  }
  const other = await capture("league", dir, "--games=10", `--out=${path}`);
  assertEquals(other.code, 2);
  assertStringIncludes(other.err, "it is of other players or settings");
  assertEquals(await Deno.readTextFile(path), text);
});

Deno.test("a person plays against an agent in a terminal", async () => {
  const dir = await trainedRun();
  let out = "", err = "";
  const moves = Array.from({ length: 60 }, (_, i) => `${i % 9}`);
  const code = await run(["play", dir, "--against=human", "--episodes=2"], {
    out: (text) => out += text,
    err: (text) => err += text,
    outIsTerminal: true,
    errIsTerminal: true,
    ask: (question) => {
      out += question;
      return Promise.resolve(moves.shift());
    },
  });
  assertEquals([code, err], [0, ""]);
  assertStringIncludes(out, "Game 2 of 2: you are second");
  assertStringIncludes(out, "Your move (0, 1, 2, 3, 4, 5, 6, 7, 8): ");
  assertMatch(out, /You won \d, drew \d and lost \d\n$/);
});

Deno.test("mistakes with games are one line and leave nothing", async () => {
  const dir = await trainedRun(), out = `${root}/none`;
  const train = ["train", "ppo", "--env=ConnectFour-v0", "--out", out];
  const cases: [args: string[], says: string][] = [
    [
      [...train, "--set=opponents={latest: 1.5}"],
      "latest: 1.5: expected a prob",
    ],
    [
      [...train, "--set=numEnvs=8", "--set=opponents={groups: 3}"],
      "in 3 groups of 8 worlds: expected groups that divide numEnvs",
    ],
    [[...train, "--set=loop=device"], "loop: device"],
    [
      [...train, "--set=vectorization=workers"],
      "vectorization: workers: expected sync",
    ],
    [[...train, "--set=frameStack=2"], "frameStack: 2: expected 1"],
    [
      [...train, "--set=opponents=null"],
      "without opponents: expected opponent",
    ],
    [[...train, "--set=opponent=scriptd"], "Cannot open run scriptd"],
    [[...train, `--set=opponent=${dir}`], "which is of TicTacToe-v0"],
    [
      ["train", "--env=CartPole-v1", "--set=opponent=random", "--out", out],
      "Cannot play CartPole-v1 against random: it has one seat",
    ],
    [["league"], "a league of no runs"],
    [["league", "zoo:a2c/CartPole-v1", `--out=${out}.json`], "one seat"],
    [["eval", dir, "--against=sripted"], "Cannot open run sripted"],
    [["eval", dir, "--against=human"], "Cannot evaluate against human"],
    [["play", dir, "--against=human"], "standard input is not a terminal"],
  ];
  for (const [args, says] of cases) {
    const { code, err } = await capture(...args);
    assertEquals(code, 2, `${args}: ${err}`);
    assertStringIncludes(err, says);
    assertEquals(err.trim().split("\n").length, 1, err);
    for (const left of [out, `${out}.json`]) {
      assert(!await Deno.stat(left).then(() => true, () => false), left);
    }
  }
});
