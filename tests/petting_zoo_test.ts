/** Games of Python's PettingZoo on the command line. */
import { hasPettingZoo } from "@bellman/envs/gymnasium";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { capture } from "../cli/testdata/capture.ts";
import { KILLER, killMidway, remainsOf, trainWell } from "./runs.ts";
import { testsWith } from "./testdata/tests_with.ts";

const test = testsWith("PettingZoo", hasPettingZoo());

const SMALL = [
  ...["ppo", "--env=pz:tictactoe_v3", "--steps=1024", "--quiet"],
  ...["--set=numEnvs=8", "--set=numSteps=16", "--set=hiddenSizes=[8]"],
  "--set=opponents={window: 2, snapshotEvery: 256, swapEvery: 128}",
  ...["--set=evaluationEpisodes=4", "--set=evaluationInterval=512"],
  ...["--set=checkpointInterval=256", "--set=logInterval=256"],
];

const root = await Deno.makeTempDir({ prefix: "bellman-petting-zoo-" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));

test("a killed run goes on with its opponents, is evaluated and plays in a league", async () => {
  const [whole, killed] = [`${root}/whole`, `${root}/killed`];
  await trainWell([...SMALL, "--out", whole]);
  const module = `--set=algorithmModules=[${KILLER}]`;
  await killMidway([...SMALL, module, "--out", killed], 700);
  await trainWell(["--resume", killed, "--quiet"]);
  const [resumed, wanted] = [killed, whole].map(remainsOf);
  assertEquals(resumed.state, wanted.state);
  assertEquals(resumed.best, wanted.best);
  const judged = await capture("eval", whole, "--episodes=4");
  assertEquals([judged.code, judged.err], [0, ""]);
  assertStringIncludes(judged.out, "ppo on pz:tictactoe_v3");
  const league = await capture(
    "league",
    whole,
    "--games=8",
    `--out=${root}/league.json`,
  );
  assertEquals(league.code, 0, league.err);
  assertStringIncludes(league.out, "whole@");
  const scripted = await capture("eval", whole, "--against=scripted");
  assertEquals(scripted.code, 2);
  assertStringIncludes(scripted.err, "scripted player of pz:tictactoe_v3");
});

const GAMES = new URL(
  "../envs/gymnasium/testdata/small_games.py",
  import.meta.url,
).pathname;

test("a file has a game, whose roles learn at once; others have to trust it", async () => {
  const out = `${root}/own`;
  await trainWell([
    ...SMALL.filter((it) => !it.startsWith("--env=")),
    ...["--env=pz:small_games:Fading", `--set=envModules=[${GAMES}]`],
    ...["--out", out],
  ]);
  const refused = await capture("eval", out, "--episodes=2");
  assertEquals(refused.code, 2);
  assertStringIncludes(
    refused.err,
    `would import ${GAMES}, import small_games; read that code first, then add --trust`,
  );
  const judged = await capture("eval", out, "--episodes=2", "--trust");
  assertEquals(judged.code, 0, judged.err);
});

const WRONG = {
  "pz:": "expected a name of PettingZoo's, such as pz:connect_four_v3",
  "pz:./duel.py:duel_v0":
    "name the file in envModules, as in --env pz:duel:duel_v0 --set envModules=[./duel.py]",
};

Deno.test("ids of no game are one line", async () => {
  for (const [id, says] of Object.entries(WRONG)) {
    const { code, err } = await capture("train", `--env=${id}`);
    assertEquals(code, 2);
    assertStringIncludes(err, says);
    assert(!err.trimEnd().includes("\n"), err);
  }
});

test("a game that there is not is one line", async () => {
  const { code, err } = await capture("train", "ppo", "--env=pz:tictactoe_v2");
  assertEquals(code, 2);
  assertStringIncludes(err, "did you mean 'tictactoe_v3'?");
});
