/** Games on the command line: training, evaluation, leagues, resuming. */
import { readProgress } from "@bellman/training";
import type { League } from "@bellman/runs/league";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { recordOf } from "@bellman/runs/tasks";
import { relative } from "node:path";
import { run } from "../cli/command_line.ts";
import { capture } from "../cli/testdata/capture.ts";
import { copyRun, KILLER, killMidway, remainsOf, trainWell } from "./runs.ts";

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
  for (const against of ["random", "scripted", "minimax:2", dir]) {
    const { code, out, err } = await capture(
      ...["eval", dir, "--episodes=8", `--against=${against}`],
    );
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, "ppo on TicTacToe-v0");
    assertMatch(out, /Games won [\d.]+ %, drawn [\d.]+ %, lost [\d.]+ %\n$/);
  }
});

Deno.test("plots, the report and the board draw the ratings of a run", async () => {
  const dir = await trainedRun(), out = `${root}/elo.svg`;
  const { code, err } = await capture("plot", dir, "--key=elo", "--out", out);
  assertEquals([code, err], [0, ""]);
  assertStringIncludes(await Deno.readTextFile(out), "Elo rating");
  const report = await Deno.readTextFile(`${dir}/report.html`);
  for (const title of ["Self-play", "Elo rating", "Win rate of the last"]) {
    assertStringIncludes(report, title);
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

Deno.test("runs of a league may be named as its other players are", async () => {
  const dir = await trainedRun();
  const folders = ["a/random", "b/run", "c/run#2", "d/run@0"]
    .map((it) => `${root}/named/${it}`);
  for (const folder of folders) {
    copyRun(dir, folder);
  }
  const path = `${root}/named.json`;
  const { code, err } = await capture(
    ...["league", dir, ...folders, "--games=2", `--out=${path}`],
  );
  assertEquals(code, 0, err);
  const { players, table } = JSON.parse(
    await Deno.readTextFile(path),
  ) as League;
  const names = players.map(({ name }) => name);
  assertEquals(names.filter((it) => !/@(0|512|1024)$/.test(it)), [
    ...["run", "random#2", "run#2", "run#2#2", "run@0#2"],
    ...["scripted", "random"],
  ]);
  assertEquals(new Set(names).size, 22);
  assertEquals(table.map(({ name }) => name).toSorted(), names.toSorted());
  assert(table.every(({ score }) => score >= 0 && score <= 1));
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
  const matchesOf = (matches: unknown) => JSON.stringify({ ...whole, matches });
  const [match] = whole.matches;
  const odd = [null, 1, {}, { ...match, won: 21 }, { ...match, first: "x" }];
  for (
    const damaged of [
      ...["null", "{", '"league"', "{}"],
      ...odd.map((it) => matchesOf([it])),
      matchesOf([...whole.matches, match]),
    ]
  ) {
    const other = `${root}/damaged.json`;
    await Deno.writeTextFile(other, damaged);
    const { code, err } = await league(other);
    assertEquals([code, err.trim().split("\n").length], [2, 1], err);
    assertStringIncludes(err, "Cannot go on with the league");
    assertEquals(await Deno.readTextFile(other), damaged);
  }
  const searched = await league(`${root}/searched.json`, "minimax:2", "random");
  assertEquals(searched.code, 0, searched.err);
  assertStringIncludes(searched.err, "21/21, ");
  assertStringIncludes(searched.out, "minimax:2");
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

Deno.test("an asynchronous algorithm plays against players by rules", async () => {
  const dir = `${root}/a3c`, run = await trainedRun();
  await trainWell([
    ...["a3c", "--env=TicTacToe-v0", "--steps=400", "--workers=2", "--quiet"],
    ...["--set=opponent=minimax:2", `--set=evaluationOpponent=${run}`],
    ...["--set=evaluationEpisodes=4", "--out", dir],
  ]);
  const { code, err } = await capture("eval", dir, "--against=random");
  assertEquals([code, err], [0, ""]);
  const other = `${root}/against-a3c`;
  await trainWell([...SMALL, `--set=opponent=${dir}`, "--out", other]);
});

Deno.test("an agent is shared with the opponent of its card, which is no other run", async () => {
  const run = await trainedRun(), dir = `${root}/against-run`;
  const given = relative(Deno.cwd(), run);
  await trainWell([...SMALL, `--set=opponent=${given}`, "--out", dir]);
  // Wherever it is resumed, the opponent is found.
  assertEquals(recordOf(dir)!.settings.opponent, run);
  const shared: [dir: string, opponent: string, notices: number][] = [
    [run, "scripted", 0],
    [dir, "random", 2],
  ];
  for (const [from, opponent, notices] of shared) {
    const out = `${from}-shared`;
    const { code, err } = await capture("share", from, "--out", out);
    assertEquals([code, err.split("\n").length - 1], [0, notices], err);
    const card = await Deno.readTextFile(`${out}/README.md`);
    assertStringIncludes(card, `| opponent | ${opponent} |`);
    const checked = await capture("share", "--check", out);
    assertStringIncludes(checked.out, "holds what it claims");
    const played = await capture("eval", out, "--episodes=4");
    assertStringIncludes(played.out, `TicTacToe-v0 against ${opponent}, step`);
  }
});

Deno.test("an experiment on a game compares returns against one opponent", async () => {
  const run = await trainedRun(), path = `${root}/plan.yaml`;
  const experiment = async (judge: string, other: string, out: string) => {
    await Deno.writeTextFile(
      path,
      `environments: [TicTacToe-v0]
seeds: 2
steps: 300
episodes: 4
set: { evaluationEpisodes: 4 }
variants:
  a2c: { preset: none, set: { evaluationOpponent: ${judge} } }
  a3c: { preset: none, set: { workers: 1, opponent: minimax:1, evaluationOpponent: ${other} } }
`,
    );
    return await capture("experiment", path, "--jobs=2", "--out", out);
  };
  const refused = await experiment("random", "scripted", `${root}/none`);
  assertEquals(refused.code, 2);
  assertStringIncludes(
    refused.err,
    "Cannot use a3c on TicTacToe-v0: it is evaluated against scripted, others against random; expected the same",
  );
  const out = `${root}/compared`;
  const made = await experiment(run, run, out);
  assertEquals(made.code, 0, made.err);
  assertStringIncludes(made.out, "4 of 4 cells finished");
  const random = await Deno.readTextFile(`${out}/random_returns.json`);
  assertMatch(random, /"TicTacToe-v0": -?\d/);
  // The same opponent by another path is no change.
  const again = await experiment(relative(Deno.cwd(), run), run, out);
  assertEquals(again.code, 0, again.err);
  assertStringIncludes(again.out, "4 of 4 cells finished");
  const changed = await experiment("random", "random", out);
  assertStringIncludes(changed.err, "Cannot change evaluationOpponent of");
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
    [
      [...train, "--set=loop=device"],
      "a game of several seats, with loop: device: expected host",
    ],
    [
      [...train, "--set=vectorization=ray", "--workers=2", "--cluster=local"],
      "vectorization: ray: expected sync",
    ],
    [[...train, "--workers=2"], "workers: 2: expected null"],
    [
      ["train", "a3c", "--env=ConnectFour-v0", "--out", out],
      "Cannot train a3c on ConnectFour-v0 against snapshots of itself",
    ],
    [
      [
        ...["train", "a3c", "--env=TicTacToe-v0", "--out", out],
        `--set=opponent=${dir}`,
      ],
      `Cannot train a3c on TicTacToe-v0 against ${dir}, as each of its workers`,
    ],
    [
      [...train, "--preset=none", "--set=network=lstm"],
      "Cannot play with snapshots of a recurrent policy",
    ],
    [
      ["train", "--env=CartPole-v1", "--set=opponents.window=3", "--out", out],
      "Cannot play CartPole-v1 against opponents of its own: it has one seat",
    ],
    [
      [
        ...["train", "--env=PaddleBall-v0", "--out", out],
        "--set=evaluationOpponent=minimax:2",
      ],
      "Cannot search the moves of PaddleBall-v0: expected worlds with a method",
    ],
    [[...train, "--set=opponent=minimax:9"], "expected 1 to 8 plies"],
    [["eval", dir, "--against=minimax"], "expected 1 to 8 plies"],
    [["league", dir, "minimax:0", `--out=${out}.json`], "1 to 8 plies"],
    [["league", "minimax:2"], "a league of no runs"],
    [
      [...train, "--set=vectorization=workers"],
      "vectorization: workers: expected sync",
    ],
    [[...train, "--set=frameStack=2"], "frameStack: 2: expected 1"],
    [
      [...train, "--set=opponents=null"],
      "without opponents: expected opponent",
    ],
    [
      [...train, "--set=opponent=scriptd"],
      "Unknown opponent 'scriptd': did you mean 'scripted'?",
    ],
    [[...train, `--set=opponent=${dir}`], "which is of TicTacToe-v0"],
    [
      ["train", "--env=CartPole-v1", "--set=opponent=random", "--out", out],
      "Cannot play CartPole-v1 against random: it has one seat",
    ],
    [["league"], "a league of no runs"],
    [["league", dir, `--picture=${out}.png`], "a file that ends in .svg"],
    [
      ["league", dir, `--out=${out}.svg`, `--picture=${out}.svg`],
      "as the league is",
    ],
    [["league", "zoo:a2c/CartPole-v1", `--out=${out}.json`], "one seat"],
    [
      ["eval", dir, "--against=sripted"],
      "Unknown opponent 'sripted': did you mean 'scripted'?",
    ],
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
