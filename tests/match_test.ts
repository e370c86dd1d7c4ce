/** Agents of a program's world that play against each other, on the command line. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { capture } from "../cli/testdata/capture.ts";
import { KILLER, killMidway, remainsOf, trainWell } from "./runs.ts";

const DUEL = new URL("../envs/self_play/testdata/duel.ts", import.meta.url)
  .pathname;
const ENV = `--env=match:program:${Deno.execPath()} run -A ${DUEL}`;
const SMALL = [
  ...["ppo", ENV, "--steps=1024", "--quiet", "--set=hiddenSizes=[8]"],
  ...["--set=numEnvs=8", "--set=numSteps=16", "--set=evaluationInterval=512"],
  "--set=opponents={window: 2, snapshotEvery: 256, swapEvery: 128}",
  ...["--set=evaluationEpisodes=4", "--set=checkpointInterval=256"],
  "--set=logInterval=256",
];

const root = await Deno.makeTempDir({ prefix: "bellman-match-" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));

Deno.test("a killed run goes on with its opponents, and plays in a league", async () => {
  const [whole, killed] = [`${root}/whole`, `${root}/killed`];
  await trainWell([...SMALL, "--out", whole]);
  const module = `--set=algorithmModules=[${KILLER}]`;
  await killMidway([...SMALL, module, "--out", killed], 700);
  await trainWell(["--resume", killed, "--quiet", "--trust"]);
  const [resumed, wanted] = [killed, whole].map(remainsOf);
  assertEquals(resumed.state, wanted.state);
  assertEquals(resumed.best, wanted.best);
  const league = await capture(
    ...["league", whole, "--games=8", "--trust"],
    `--out=${root}/league.json`,
  );
  assertEquals(league.code, 0, league.err);
  assertStringIncludes(league.out, "whole@");
});

Deno.test("people who play a program are recorded, and cloned", async () => {
  const out = `${root}/demo`;
  const recorded = await capture("record", ENV, "--episodes=4", `--out=${out}`);
  assertEquals(recorded.code, 0, recorded.err);
  assertStringIncludes(
    recorded.out,
    "Recorded 4 episodes, 12 steps, mean return 0",
  );
  await trainWell([
    ...["bc", `--data=${out}`, ENV, "--steps=100", "--quiet"],
    ...["--set=evaluationEpisodes=2", `--out=${root}/clone`],
  ]);
  for (const  of of["--max-steps=3", "--stochastic"]) {
    const none = await capture("record", ENV, of, `--out=${root}/none`);
    assertEquals(none.code, 2);
    assertStringIncludes(
      none.err,
      `Cannot record people with ${of.split("=")[0]}`,
    );
  }
  const { code, err } = await capture(
    ...["record", "--env=CartPole-v1", `--out=${root}/none`],
  );
  assertEquals(code, 2);
  assertStringIncludes(err, "Cannot record people in CartPole-v1");
  assert(!err.includes("\n    at "), err);
});
