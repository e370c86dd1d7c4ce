/**
 * Episodes that never end, as where a greedy policy walks in a circle: training,
 * evaluations and videos end all the same, and say so.
 */
import { hasGymnasium } from "@bellman/envs/gymnasium";
import { readProgress } from "@bellman/training";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { capture } from "../cli/testdata/capture.ts";

const MODULE = new URL("testdata/endless_env.ts", import.meta.url).pathname;
const dir = await Deno.makeTempDir({ prefix: "bellman-endless-" });

Deno.test("episodes without an end are cut, counted and told", async () => {
  const out = `${dir}/run`;
  const trained = await capture(
    ...["train", "--env=Endless-v0", `--set=envModules=[${MODULE}]`],
    ...[
      "--set=envKwargs={ends: 150}",
      "--set=evaluationEnvKwargs={ends: 1000000}",
    ],
    ...["--set=evaluationEpisodes=1", "--steps=800", "--set=numEnvs=2"],
    ...["--set=evaluationInterval=800"],
    ...["--unchecked", "--out", out],
  );
  assertEquals(trained.code, 0, trained.err);
  assertStringIncludes(
    trained.err,
    "Endless-v0 has no limit of steps, so that an episode may never end: --set maxEpisodeSteps=1000 sets one\n",
  );
  assertMatch(
    trained.out,
    /^Evaluation at step 800: return .*, 1 episodes cut$/m,
  );
  const cut = "10000 ± 0 over 1 episodes, 1 of them cut after 10,000 steps";
  assertStringIncludes(
    trained.out,
    `Last agent (step 800), deterministic: ${cut}`,
  );
  const cuts = readProgress(`${out}/progress.csv`)
    .flatMap(({ statistics }) => statistics["eval/episodes_cut"] ?? []);
  assertEquals(cuts, [1]);
  assertStringIncludes(
    await Deno.readTextFile(`${out}/report.html`),
    "cut episodes",
  );

  // The same bound holds for what is played later.
  const judged = await capture("eval", out, "--episodes=1");
  assertStringIncludes(judged.out, cut);
  const asked = await capture(
    "eval",
    out,
    "--episodes=3",
    "--max-steps=7",
    "--json",
  );
  const { lengths, cut: counted } = JSON.parse(asked.out);
  assertEquals([lengths, counted], [[7, 7, 7], 3]);
});

Deno.test("a limit that is set is no matter for a warning, nor is the run's bound", async () => {
  const out = `${dir}/limited`;
  const trained = await capture(
    ...["train", "--env=Endless-v0", `--set=envModules=[${MODULE}]`],
    ...["--set=maxEpisodeSteps=60", "--set=evaluationMaxSteps=9"],
    ...["--set=evaluationEpisodes=2", "--steps=200", "--set=numEnvs=2"],
    ...["--backend=cpu", "--unchecked", "--out", out],
  );
  assertEquals(trained.code, 0, trained.err);
  assertEquals(trained.err.includes("no limit"), false);
  assertStringIncludes(
    trained.out,
    "9 ± 0 over 2 episodes, 2 of them cut after 9 steps",
  );
});

Deno.test({
  name:
    "a greedy policy that walks in a circle on Gymnasium's cliff is judged, played and exported [Gymnasium]",
  ignore: !hasGymnasium(),
  fn: async () => {
    const out = `${dir}/cliff`;
    const trained = await capture(
      ...["train", "a2c", "--env=gym:CliffWalking-v1", "--steps=2000"],
      ...["--quiet", "--set=evaluationEpisodes=1", "--out", out],
      ...["--set=evaluationInterval=1000", "--set=evaluationMaxSteps=500"],
    );
    assertEquals(trained.code, 0, trained.err);
    const played = await capture(
      ...["play", out, "--gif", `${dir}/cliff.gif`, "--max-steps=20"],
    );
    assertEquals(played.code, 0, played.err);
    assertMatch(
      played.out,
      /episode 1: return -\d+, (20 steps \(cut\)|1?\d steps)\n/,
    );
    const exported = await capture("export", out);
    assertEquals(exported.code, 0, exported.err);
  },
});
