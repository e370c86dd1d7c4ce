/** Games of several roles on the command line: a policy for each. */
import { readProgress } from "@bellman/training";
import type { League } from "@bellman/runs/league";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import { capture } from "../cli/testdata/capture.ts";
import { KILLER, killMidway, remainsOf, trainWell } from "./runs.ts";

const CHASE = new URL("./testdata/chase.ts", import.meta.url).pathname;

const SMALL = [
  "ppo",
  "--env=Chase-v0",
  `--set=envModules=[${CHASE}]`,
  "--steps=2048",
  "--set=numEnvs=16",
  "--set=numSteps=16",
  "--set=hiddenSizes=[8]",
  "--set=opponents={window: 3, snapshotEvery: 256, swapEvery: 64}",
  "--set=evaluationEpisodes=8",
  "--set=evaluationInterval=1024",
  "--set=checkpointInterval=512",
  "--set=logInterval=256",
  "--quiet",
];

const root = await Deno.makeTempDir({ prefix: "bellman-roles-" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));

/** The small run with other settings of the same names. */
function smallWith(...settings: string[]): string[] {
  const names = settings.map((it) => it.split("=")[0]);
  const kept = SMALL.filter((it) =>
    !names.some((name) => it.startsWith(`--set=${name}=`))
  );
  return [...kept, ...settings.map((it) => `--set=${it}`)];
}

let trained: Promise<string> | undefined;

/** Folder of a run that is trained once. */
function trainedRun(): Promise<string> {
  const dir = `${root}/run`;
  return trained ??= trainWell([...SMALL, "--out", dir]).then(() => dir);
}

async function refused(args: string[], line: string): Promise<void> {
  const { code, err } = await capture(...args);
  assertEquals(code, 2, err);
  assertStringIncludes(err, line);
}

Deno.test("a run of two roles logs both, and exports a policy of each", async () => {
  const dir = await trainedRun();
  const { statistics } = readProgress(`${dir}/progress.csv`)
    .findLast((it) => "cat/self_play/elo" in it.statistics)!;
  for (const role of ["cat", "mouse"]) {
    assert(Number.isFinite(statistics[`${role}/policy_loss`]));
    assert(statistics[`${role}/self_play/elo`] > 1000);
    assert(existsSync(`${dir}/policy.${role}.onnx`));
  }
  const out = `${root}/cat.onnx`;
  const exported = ["export", dir, "--role=cat", "--checkpoint=latest"];
  assertEquals((await capture(...exported, `--out=${out}`)).code, 0);
  await refused(["export", dir], "expected one of the roles cat, mouse");
  await refused(["export", dir, "--role=cta"], "did you mean 'cat'");
  await refused(["share", dir, `--out=${root}/s`], "a policy of each role");
});

Deno.test("agents of two roles are evaluated, played and rated", async () => {
  const dir = await trainedRun();
  for (const against of ["random", dir]) {
    const { code, out, err } = await capture(
      ...["eval", dir, "--episodes=8", `--against=${against}`],
    );
    assertEquals(code, 0, err);
    assertStringIncludes(out, "ppo on Chase-v0");
  }
  const gif = `${root}/play.gif`;
  assertEquals((await capture("play", dir, `--gif=${gif}`)).code, 0);
  assert(existsSync(gif));
  const path = `${root}/league.json`;
  const played = await capture("league", dir, "--games=20", `--out=${path}`);
  assertEquals(played.code, 0, played.err);
  const { players }: League = JSON.parse(await Deno.readTextFile(path));
  const names = players.map(({ name }) => name);
  // A snapshot has the policies of both roles.
  assertEquals(names.filter((it) => !it.includes("@")), ["run", "random"]);
  assertEquals(new Set(names).size, names.length);
  assert(names.length >= 4);
});

Deno.test("a killed run of two roles goes on as before", async () => {
  const whole = await trainedRun(), dir = `${root}/killed`;
  const module = `--set=algorithmModules=[${KILLER}]`;
  await killMidway([...SMALL, module, "--out", dir], 1300);
  await trainWell(["--resume", dir, "--quiet"]);
  const [resumed, wanted] = [dir, whole].map(remainsOf);
  assertEquals(resumed.state, wanted.state);
  assertEquals(resumed.best, wanted.best);
});

Deno.test("one role alone learns against a player, and is no player of the other", async () => {
  const dir = `${root}/mouse`, whole = await trainedRun();
  const one = smallWith("opponents={seat: mouse}", "opponent=random");
  await trainWell([...one, "--out", dir]);
  for (const against of ["random", whole]) {
    const evaluated = ["eval", dir, "--episodes=8", `--against=${against}`];
    const { code, err } = await capture(...evaluated);
    assertEquals(code, 0, err);
  }
  await refused(
    ["league", dir, whole],
    "expected a run of the roles cat, mouse",
  );
});

Deno.test("roles that cannot be trained are refused", async () => {
  const train = (setting: string) => ["train", ...smallWith(setting)];
  await refused(train("numEnvs=5"), "expected numEnvs that 2 divides");
  await refused(train("roles=shared"), "have other spaces");
  await refused(train("opponents={role: cta}"), "Unknown role 'cta' of Chase");
  await refused(
    train("opponents={role: cat}"),
    "Cannot play the role mouse of Chase with snapshots of an agent of cat",
  );
});
