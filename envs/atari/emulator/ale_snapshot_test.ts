import { assertEquals, assertThrows } from "@std/assert";
import { createHash } from "node:crypto";
import { serialize } from "node:v8";
import { isMidFrame } from "./_ale_state.ts";
import { Ale } from "./ale.ts";
import { isAtariInstalled } from "./installed.ts";
import { BAR_GAMES } from "../testdata/bar_games.ts";
import { play } from "../testdata/play.ts";
import { testsWith } from "../../../tests/testdata/tests_with.ts";
import { runDeno } from "../../../tests/testdata/run_deno.ts";

const test = testsWith("ALE", isAtariInstalled());
const STICKY = { repeatActionProbability: 0.25, seed: 3 };

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Text comparison without a diff of megabytes. */
function assertSame(a: string, b: string): void {
  assertEquals(sha256(a), sha256(b));
}

type Bytes = Uint8Array<ArrayBuffer>;
const stateOf = (ale: Ale): Bytes =>
  (ale.save() as unknown as { state: Bytes }).state;

// In Yars' Revenge missiles stay where they are for frames on end.
for (const game of [...BAR_GAMES, "yars_revenge"]) {
  test(`Ale goes on exactly from snapshots of ${game}`, () => {
    using ale = new Ale(game, STICKY);
    using other = new Ale(game, { ...STICKY, seed: 4, systemSeed: 5 });
    for (let i = 0; i < 3; i++) {
      play(ale, 50 * i, i);
      const snapshot = ale.save();
      const copy = structuredClone(snapshot);
      const first = play(ale, 40, i);
      assertEquals(snapshot, copy);
      ale.load(snapshot);
      assertSame(play(ale, 40, i), first);
      play(other, 10 * i, 9);
      other.load(copy);
      assertEquals(other.screen(), (copy as { screen: Bytes }).screen);
      assertSame(play(other, 40, i), first);
    }
  });
}

test("Ale goes on exactly from snapshots in another process", async () => {
  const digests: string[] = [];
  const games = BAR_GAMES.slice(0, 3).map((game) => {
    using ale = new Ale(game, STICKY);
    play(ale, 150, 1);
    const snapshot = ale.save();
    digests.push(sha256(play(ale, 60, 2)));
    return { game, options: { ...STICKY, seed: 99 }, snapshot };
  });
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeFile(file, serialize(games));
    const script = new URL("../testdata/resume.ts", import.meta.url).pathname;
    const { out } = await runDeno(["-A", script, file, "60", "2"]);
    const lines = out.trim().split("\n");
    assertEquals(lines, digests);
  } finally {
    await Deno.remove(file);
  }
});

test("Ale goes on from the midst of a frame, and into it", () => {
  // The game thinks for longer than a frame after each move.
  using ale = new Ale("tic_tac_toe_3d");
  const memory = (it: Ale): string => {
    const frames: string[] = [];
    for (let i = 0; i < 20; i++) {
      it.act(i % 6);
      frames.push(it.ram().toHex() + it.frameNumber);
    }
    return frames.join();
  };
  const whole = ale.save();
  assertEquals(isMidFrame(stateOf(ale)), false);
  for (let i = 0; i < 500 && !isMidFrame(stateOf(ale)); i++) ale.act(i % 6);
  assertEquals(isMidFrame(stateOf(ale)), true);
  const mid = ale.save();
  const afterMid = memory(ale);
  using other = new Ale("tic_tac_toe_3d");
  other.load(mid);
  assertEquals(isMidFrame(stateOf(other)), true);
  assertEquals(memory(other), afterMid);
  other.load(whole);
  const afterWhole = memory(other);
  other.load(mid);
  other.load(whole);
  assertEquals(memory(other), afterWhole);
});

test("Ale goes on from the end of a game, and to it", () => {
  using ale = new Ale("breakout");
  for (let i = 0; !ale.gameOver; i++) ale.act(i % 3 === 0 ? 1 : 4);
  const end = ale.save();
  ale.reset();
  const first = play(ale, 50, 1);
  ale.load(end);
  const seen = [ale.screen(), ale.ram(), ale.frameNumber];
  assertEquals([ale.gameOver, ale.act(1)], [true, 0]);
  assertEquals([ale.screen(), ale.ram(), ale.frameNumber], seen);
  ale.reset();
  assertSame(play(ale, 50, 1), first);
});

test("Ale shows the snapshot's screen before the next frame", () => {
  using ale = new Ale("pacman");
  play(ale, 200, 1);
  const [snapshot, rgb, gray] = [ale.save(), ale.rgb(), ale.gray()];
  play(ale, 30, 2);
  ale.load(snapshot);
  assertEquals(ale.rgb(), rgb);
  assertEquals(ale.gray(), gray);
});

test("Ale refuses what is no snapshot of it, and stays as it was", () => {
  using ale = new Ale("breakout");
  using pong = new Ale("pong");
  using sticky = new Ale("breakout", STICKY);
  using mode = new Ale("breakout", { mode: 4 });
  using limited = new Ale("breakout", { maxNumFramesPerEpisode: 99 });
  play(ale, 10, 1);
  const snapshot = ale.save() as Record<string, Bytes>;
  const broken = snapshot.state.slice(0, 500);
  const flipped = snapshot.state.slice();
  flipped[90] ^= 1;
  const refused: [unknown, string][] = [
    [null, "no 'settings'"],
    [{ ...snapshot, state: broken }, "its state is broken"],
    [{ ...snapshot, state: new Uint8Array(3) }, "its state is broken"],
    [{ ...snapshot, state: [1, 2] }, "its state is broken"],
    [{ ...snapshot, ram: broken }, "of other settings"],
    [pong.save(), "its state is broken"],
    [limited.save(), "of other settings"],
    // One bit of what the library would read lengths from.
    [{ ...snapshot, state: flipped }, "its state is broken"],
    [sticky.save(), "of other settings"],
    [mode.save(), "of other settings"],
  ];
  for (const [value, message] of refused) {
    assertThrows(() => ale.load(value as never), TypeError, message);
  }
  assertEquals(ale.save(), snapshot);
});

test("Ale refuses snapshots that the library does not save whole", () => {
  using ale = new Ale("miniature_golf");
  assertThrows(() => ale.save(), Error, "snapshot of miniature_golf");
});
