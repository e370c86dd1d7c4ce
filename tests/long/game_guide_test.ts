/** The guide to a game, whole, with two simple players in the place of people. */
import { Player } from "@bellman/client/play";
import { openDataset } from "@bellman/buffers/datasets";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Football } from "../../docs/examples/football/game.ts";
import { seenBy } from "../../docs/examples/football/world.ts";
import { Browser } from "../../envs/pages/_browser.ts";
import { testInPages } from "../../envs/pages/testdata/games.ts";
import { bundle, servePage } from "../../envs/pages/testdata/page_server.ts";
import { trainWell } from "../runs.ts";
import { runDeno } from "../testdata/run_deno.ts";

const FOLDER = new URL("../../docs/examples/football/", import.meta.url);
const MAIN = new URL("../../cli/main.ts", import.meta.url).pathname;

/** Records people, whose page is opened here. */
async function recordPeople(args: readonly string[]): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "--no-check", MAIN, "record", ...args],
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  const browser = await Browser.start("auto");
  let told = "";
  for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
    const before = /open (http\S+)\n/.test(told);
    told += text;
    const address = /open (http\S+)\n/.exec(told)?.[1];
    if (address !== undefined && !before) await browser.open(address);
  }
  const out = await new Response(child.stdout).text();
  assertEquals((await child.status).code, 0, told);
  await browser.end();
  return out;
}

testInPages(
  "from two players to an agent that knows how they play",
  async () => {
    const page = new URL("page.ts", FOLDER);
    const html = await Deno.readTextFile(new URL("index.html", FOLDER));
    await using server = await servePage(
      await bundle(page),
      html.replace("page.js", "game.js"),
    );
    const dir = await Deno.makeTempDir({ prefix: "bellman-game-" });
    const env = `--env=match:page:${server.url}`, demo = `${dir}/demo`;
    const recorded = await recordPeople([
      ...[`${env}?scripted`, "--episodes=4", `--out=${demo}`],
    ]);
    assertStringIncludes(recorded, "Recorded 4 episodes");
    const data = await openDataset(demo, { holdout: 0 });
    assertEquals([data.numEpisodes, data.meanReturn], [4, 0]);
    await trainWell([
      ...["bc", `--data=${demo}`, env, "--steps=300", "--quiet"],
      ...["--set=evaluationInterval=0", "--set=evaluationEpisodes=2"],
      `--out=${dir}/clone`,
    ]);
    await trainWell([
      ...["ppo", `--env=page:${server.url}`, `--init-from=${dir}/clone`],
      ...["--steps=8192", "--quiet", "--set=numEnvs=16", "--set=numSteps=64"],
      ...["--set=evaluationInterval=0", "--set=evaluationEpisodes=2"],
      '--set=evaluationEnvKwargs={"opponent":"scripted"}',
      '--set=parameters={"guidance":{"schedule":[[0,0.03],[0.6,0]]}}',
      `--out=${dir}/agent`,
    ]);
    const { code, out, err } = await runDeno([
      ...["-A", "--no-lock", new URL("tournament.ts", FOLDER).pathname],
      ...["clone", "agent"].map((it) => `${it}=${dir}/${it}/policy.onnx`),
    ]);
    assertEquals(code, 0, err);
    assert(/agent - clone: \d+ won, \d+ drawn, \d+ lost/.test(out), out);
    assert(/^scripted: Elo \d+ \[\d+, \d+\]$/m.test(out), out);
    const player = new Player<number>(
      await Deno.readFile(`${dir}/agent/policy.onnx`),
    );
    const game = new Football();
    game.kickOff(() => 0.5);
    assert(player.act(seenBy(game, 1)) < 9);
    await Deno.remove(dir, { recursive: true });
  },
);
