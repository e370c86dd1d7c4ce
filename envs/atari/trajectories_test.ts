import { assertEquals } from "@std/assert";
import { crc32 } from "node:zlib";
import { StickyActions } from "./emulator/_ale_random.ts";
import { Ale } from "./emulator/ale.ts";
import { isAtariInstalled } from "./emulator/installed.ts";
import data from "./testdata/trajectories.json" with { type: "json" };

/** What ale-py 0.12.1 did, written by testdata/trajectories.py. */
type Trajectory = typeof data["games"][number];

/** The same actions as in the script that recorded. */
function* actions(choices: readonly number[]): Generator<number> {
  let state = 1;
  while (true) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    yield choices[(state >>> 16) % choices.length];
  }
}

function play({ game, systemSeed, idle, elsewhere, frames }: Trajectory) {
  using ale = new Ale(game, { systemSeed });
  // ale-py drew for its idle frames too.
  const sticky = new StickyActions(data.repeatActionProbability, data.seed);
  for (let i = 0; i < idle; i++) sticky.take(0);
  const rewards: number[][] = [], lives = [[0, ale.lives]];
  const rams: number[] = [], screens: number[] = [];
  const choices = actions(ale.game.minimalActions);
  for (let frame = 1; frame <= frames; frame++) {
    assertEquals(ale.gameOver, false);
    const reward = ale.act(sticky.take(choices.next().value));
    if (reward !== 0) rewards.push([frame, reward]);
    if (ale.lives !== lives.at(-1)![1]) lives.push([frame, ale.lives]);
    if (frame % data.every !== 0) continue;
    const ram = ale.ram();
    for (const at of elsewhere) ram[at] = 0;
    rams.push(crc32(ram));
    if (elsewhere.length > 0) continue;
    screens.push(crc32(ale.gray(), crc32(ale.rgb())));
  }
  return { over: ale.gameOver, rewards, lives, rams, screens };
}

for (const trajectory of data.games) {
  Deno.test(`Ale plays ${trajectory.game} as ale-py does [ALE]`, {
    ignore: !isAtariInstalled(),
  }, () => {
    const { over, rewards, lives, rams, screens } = trajectory;
    assertEquals(play(trajectory), { over, rewards, lives, rams, screens });
  });
}
