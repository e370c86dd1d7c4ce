import { assertEquals, assertThrows } from "@std/assert";
import { Ale } from "./ale.ts";
import { NTSC, paint, paintGray, PAL } from "./palettes.ts";
import { isAtariInstalled } from "./installed.ts";
import { SeededRandom } from "../../random.ts";
import { play } from "../testdata/play.ts";

const ignore = !isAtariInstalled();

function test(name: string, fn: () => void): void {
  Deno.test({ name: `Ale ${name} [ALE]`, ignore, fn });
}

test("plays Breakout until the lives are gone", () => {
  using ale = new Ale("breakout");
  const lives = [ale.lives];
  let rewards = 0;
  for (let i = 0; !ale.gameOver; i++) {
    rewards += ale.act(i % 3 === 0 ? 1 : 4);
    if (ale.lives !== lives.at(-1)) lives.push(ale.lives);
  }
  assertEquals(lives, [5, 4, 3, 2, 1, 0]);
  assertEquals(rewards > 0, true);
  const { frameNumber, episodeFrameNumber } = ale;
  assertEquals(episodeFrameNumber, frameNumber);
  assertEquals(ale.act(1), 0);
  assertEquals(ale.episodeFrameNumber, episodeFrameNumber);
  ale.reset();
  assertEquals([ale.gameOver, ale.lives, ale.episodeFrameNumber], [
    false,
    5,
    0,
  ]);
  assertEquals(ale.frameNumber, frameNumber);
});

/** Lives of a game that is played to its end, of at most 3,000 pushes. */
function livesOf(game: string, seed: number): number[] {
  using ale = new Ale(game);
  const random = new SeededRandom(seed), lives = [ale.lives];
  const { minimalActions } = ale.game;
  for (let push = 0; push < 3_000 && !ale.gameOver; push++) {
    const action = minimalActions[random.integer(minimalActions.length)];
    for (let frame = 0; frame < 4; frame++) ale.act(action);
    if (ale.lives !== lives.at(-1)) lives.push(ale.lives);
  }
  assertEquals([game, ale.gameOver], [game, true]);
  return lives;
}

test("counts lives down to 0 where ale-py and its library differ", () => {
  const courses: Record<string, number[]> = {
    amidar: [11, 10, 9, 8, 0],
    entombed: [1, 0],
    kaboom: [1, 0],
    wizard_of_wor: [3, 2, 1, 0],
  };
  for (const [game, lives] of Object.entries(courses)) {
    assertEquals([game, ...livesOf(game, 2)], [game, ...lives]);
  }
});

test("ends Chopper Command with the last life, whatever is pushed then", () => {
  for (const seed of [1, 2]) {
    assertEquals(livesOf("chopper_command", seed), [3, 2, 1, 0]);
  }
  using ale = new Ale("chopper_command");
  for (let i = 0; i < 30_000 && !ale.gameOver; i++) ale.act(i % 8 < 4 ? 3 : 0);
  assertEquals(ale.lives, 0);
  const seen = [ale.ram(), ale.frameNumber], end = ale.save();
  assertEquals([ale.act(1), ale.ram(), ale.frameNumber], [0, ...seen]);
  ale.reset();
  assertEquals(ale.gameOver, false);
  ale.load(end);
  assertEquals([ale.gameOver, ale.act(1)], [true, 0]);
});

test("counts lives as ale-py does", () => {
  for (
    const [game, lives] of [["space_invaders", 3], ["freeway", 0], [
      "blackjack",
      1,
    ]] as const
  ) {
    using ale = new Ale(game);
    assertEquals([game, ale.lives], [game, lives]);
  }
});

test("ends at the frame limit, which is no end of the game", () => {
  using ale = new Ale("breakout", { maxNumFramesPerEpisode: 30 });
  for (let i = 0; i < 29; i++) ale.act(0);
  assertEquals(ale.truncated, false);
  ale.act(0);
  assertEquals([ale.truncated, ale.gameOver], [true, false]);
  const memory = ale.ram();
  ale.act(1);
  assertEquals([ale.ram(), ale.episodeFrameNumber], [memory, 30]);
  ale.reset();
  assertEquals(ale.truncated, false);
});

test("repeats actions of one seed alike", () => {
  const course = (seed: number, repeatActionProbability: number) => {
    using ale = new Ale("breakout", { seed, repeatActionProbability });
    return play(ale, 60, 1);
  };
  assertEquals(course(1, 0.25) === course(1, 0.25), true);
  assertEquals(course(1, 0.25) === course(2, 0.25), false);
  assertEquals(course(1, 0) === course(2, 0), true);
});

test("repeats the first action, which is none, with probability 1", () => {
  using stuck = new Ale("breakout", { repeatActionProbability: 1 });
  using idle = new Ale("breakout");
  for (let i = 0; i < 30; i++) {
    stuck.act(3);
    idle.act(0);
  }
  assertEquals(stuck.ram(), idle.ram());
});

test("reloads the game as a new emulator has it", () => {
  const options = { repeatActionProbability: 0.5, seed: 4 };
  using fresh = new Ale("seaquest", options);
  using used = new Ale("seaquest", { ...options, seed: 5 });
  play(used, 100, 1);
  used.reload(4);
  assertEquals(play(used, 50, 2) === play(fresh, 50, 2), true);
});

test("sets modes by ale-py's numbers, and difficulties", () => {
  for (const mode of [0, 1]) {
    using ale = new Ale("pong", { mode, difficulty: 2 });
    // Where Video Olympics keeps its game.
    assertEquals(ale.ram()[0x16], mode);
    ale.reset();
    assertEquals([ale.ram()[0x16], ale.mode, ale.difficulty], [mode, mode, 2]);
  }
});

test("has screens in palette numbers, colours and grays", () => {
  for (
    const [game, palette] of [["breakout", NTSC], ["pacman", PAL]] as const
  ) {
    using ale = new Ale(game);
    play(ale, 100, 1);
    const { width, height } = ale;
    const screen = ale.screen();
    const rgb = new Uint8Array(3 * width * height);
    const gray = new Uint8Array(width * height);
    paint(screen, palette, rgb);
    paintGray(screen, palette, gray);
    assertEquals(ale.rgb(), rgb);
    assertEquals(ale.gray(), gray);
    assertEquals(ale.palette, palette);
    assertEquals(new Set(screen).size > 3, true);
  }
});

test("copies into the caller's bytes, of the right size only", () => {
  using ale = new Ale("breakout");
  const bytes = new Uint8Array(210 * 160);
  assertEquals(ale.screen(bytes) === bytes, true);
  const short = new Uint8Array(5);
  for (const name of ["screen", "rgb", "gray", "ram"] as const) {
    assertThrows(() => ale[name](short), RangeError, "into 5 bytes");
  }
});

test("refuses what the emulator does not know", () => {
  const refused: Record<string, () => unknown> = {
    "'brekout': did you mean 'breakout'?": () => new Ale("brekout"),
    "did you mean 'space_invaders'?": () => new Ale("SpaceInvaders"),
    "no mode of pong 7: there are 0, 1": () => new Ale("pong", { mode: 7 }),
    "no difficulty of pong 9": () => new Ale("pong", { difficulty: 9 }),
    "Cannot make pong with repeatActionProbability 2: expected 0 to 1": () =>
      new Ale("pong", { repeatActionProbability: 2 }),
    "maxNumFramesPerEpisode 0: expected a whole number of at least 1": () =>
      new Ale("pong", { maxNumFramesPerEpisode: 0 }),
    "seed -1: expected a whole number": () => new Ale("pong", { seed: -1 }),
  };
  for (const [message, make] of Object.entries(refused)) {
    assertThrows(make, RangeError, message);
  }
  using ale = new Ale("pong");
  for (const action of [18, -1, 0.5, NaN]) {
    assertThrows(() => ale.act(action), RangeError, `action ${action}`);
  }
});

test("cannot be used after it was closed", () => {
  const ale = new Ale("pong");
  ale.close();
  ale.close();
  for (const use of [() => ale.act(0), () => ale.lives, () => ale.rgb()]) {
    assertThrows(use, Error, "as its emulator was closed");
  }
});
