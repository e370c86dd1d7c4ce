/** The example of a game in a page: its rules, its exactness, and that it trains. */
import { Host } from "@bellman/client";
import { readRecord, RunFolder } from "@bellman/runs";
import { assert, assertEquals } from "@std/assert";
import { Football } from "../docs/examples/football/game.ts";
import {
  act,
  Match,
  scripted,
  seenBy,
} from "../docs/examples/football/world.ts";
import { testInPages } from "../envs/pages/testdata/games.ts";
import { bundle, servePage } from "../envs/pages/testdata/page_server.ts";
import { trainWell } from "./runs.ts";

Deno.test("both sides see the match from the left", () => {
  const game = new Football();
  game.kickOff(() => 0.5);
  assertEquals(seenBy(game, 0), seenBy(game, 1));
  for (let i = 0; i < 30; i++) {
    for (const side of [0, 1]) act(game, side, 1);
    game.tick();
  }
  const [one, other] = [seenBy(game, 0), seenBy(game, 1)];
  one.forEach((it, i) => assert(Math.abs(it - other[i]) < 1e-6, `${i}`));
});

Deno.test("the simple player scores against one who stands still, on either side", () => {
  for (const side of [0, 1]) {
    const game = new Football();
    // The one who stands still is out of the way.
    const drawn = side === 0 ? [0.6, 0.5, 0.05] : [0.6, 0.05, 0.5];
    game.kickOff(() => drawn.shift()!);
    let goal = 0;
    for (let i = 0; i < 60 * 40 && goal === 0; i++) {
      act(game, side, scripted(game, side));
      goal = game.tick();
    }
    assertEquals(goal, side === 0 ? 1 : -1);
  }
});

Deno.test("a ball that is stuck is dropped in the middle", () => {
  const game = new Football(), ys = new Set<number>();
  game.kickOff(() => 0.9);
  for (let i = 0; i < 90; i++) {
    ys.add(game.ball.getPosition().y);
    game.tick();
  }
  assertEquals([ys.size, game.ball.getPosition().y], [1, 0]);
});

Deno.test("a match is played again to the bit", async () => {
  const open = { type: "open", protocol: 1, numEnvs: 4, first: 0, kwargs: {} };
  const hosts = [new Host(() => new Match()), new Host(() => new Match())];
  for (const it of hosts) {
    await it.answer(JSON.stringify(open));
    await it.answer(JSON.stringify({ type: "reset", seeds: [1, 1, 2, 2] }));
  }
  const play = async (host: Host, from: number, count: number) => {
    const seen: string[] = [];
    for (let i = from; i < from + count; i++) {
      const message = new Uint8Array(24);
      message[0] = 3;
      new Int32Array(message.buffer, 8).set([i % 9, i % 7, i % 5, i % 8]);
      seen.push((await host.answer(message) as Uint8Array).toHex());
    }
    return seen;
  };
  const [one, other] = hosts;
  await play(one, 0, 50);
  const { worlds } = JSON.parse(await one.answer('{"type":"save"}') as string);
  await other.answer(JSON.stringify({ type: "load", worlds }));
  assertEquals(await play(other, 50, 40), await play(one, 50, 40));
});

testInPages(
  "an agent trains in the page, and plays the simple player",
  async () => {
    const page = new URL("../docs/examples/football/page.ts", import.meta.url);
    const html = await Deno.readTextFile(new URL("index.html", page));
    await using server = await servePage(
      await bundle(page),
      html.replace("page.js", "game.js"),
    );
    const dir = await Deno.makeTempDir({ prefix: "bellman-football-" });
    await trainWell([
      ...["ppo", `--env=page:${server.url}`, "--steps=4096", "--quiet"],
      ...[
        "--set=numEnvs=16",
        "--set=numSteps=64",
        "--set=evaluationEpisodes=2",
      ],
      '--set=evaluationEnvKwargs={"opponent":"scripted"}',
      ...["--set=evaluationInterval=0", "--set=parameters={guidance: 0}"],
      `--out=${dir}/run`,
    ]);
    const { state, evaluations } = readRecord(new RunFolder(`${dir}/run`))!;
    assertEquals(state, "ended");
    assert(Math.abs(evaluations.last!.meanReturn) <= 1);
    await Deno.remove(dir, { recursive: true });
  },
);
