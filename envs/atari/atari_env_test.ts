import { assertEquals, assertThrows } from "@std/assert";
import { checkEnv } from "../check_env.ts";
import { AtariEnv, type AtariEnvOptions } from "./atari_env.ts";
import { seedSequence } from "./emulator/_ale_random.ts";
import { isAtariInstalled } from "./emulator/installed.ts";
import { BAR_GAMES } from "./testdata/bar_games.ts";

const ignore = !isAtariInstalled();

function test(name: string, fn: () => void): void {
  Deno.test({ name: `AtariEnv ${name} [ALE]`, ignore, fn });
}

function withEnv<T>(
  run: (env: AtariEnv) => T,
  options: AtariEnvOptions = {},
  game = "breakout",
): T {
  const env = new AtariEnv(game, options);
  try {
    return run(env);
  } finally {
    env.close();
  }
}

for (const game of BAR_GAMES) {
  test(`keeps an environment's promises in ${game}`, () => {
    const options: AtariEnvOptions = { obsType: "ram", frameskip: [2, 5] };
    withEnv((env) => checkEnv(env, { steps: 30 }), options, game);
  });
}

test("keeps them with screens too", () => {
  for (const obsType of ["rgb", "grayscale"] as const) {
    withEnv((env) => checkEnv(env, { steps: 2 }), { obsType });
  }
});

test("has ale-py's spaces", () => {
  const shapes = { rgb: [210, 160, 3], grayscale: [210, 160], ram: [128] };
  for (const obsType of ["rgb", "grayscale", "ram"] as const) {
    withEnv((env) => {
      assertEquals(env.observationSpace.shape, shapes[obsType]);
      assertEquals(env.observationSpace.dtype, "uint8");
      assertEquals(env.actionMeanings, ["NOOP", "FIRE", "RIGHT", "LEFT"]);
    }, { obsType });
  }
  withEnv((env) => {
    assertEquals(env.actionSpace.n, 18);
    assertEquals(env.actionMeanings[17], "DOWNLEFTFIRE");
  }, { fullActionSpace: true });
  // The library's own list lacks the action that does nothing.
  withEnv(
    (env) => assertEquals(env.actionMeanings[0], "NOOP"),
    {},
    "wizard_of_wor",
  );
});

test("repeats an action for as many frames as it is told", () => {
  const framesOf = (frameskip: AtariEnvOptions["frameskip"]) =>
    withEnv((env) => {
      env.reset({ seed: 1 });
      return Array.from({ length: 40 }, () => {
        const before = env.ale.frameNumber;
        return env.step(0).info!.frameNumber as number - before;
      });
    }, { frameskip, obsType: "ram" });
  assertEquals(new Set(framesOf(4)), new Set([4]));
  const counts = framesOf([2, 5]);
  assertEquals([...new Set(counts)].sort(), [2, 3, 4]);
  assertEquals(framesOf([2, 5]), counts);
});

test("tells lives and frame numbers", () => {
  withEnv((env) => {
    env.reset({ seed: 0 });
    env.step(0);
    const { info } = env.step(0);
    assertEquals(info, { lives: 5, episodeFrameNumber: 8, frameNumber: 8 });
    env.reset();
    assertEquals(env.step(0).info, {
      lives: 5,
      episodeFrameNumber: 4,
      frameNumber: 12,
    });
    env.reset({ seed: 0 });
    assertEquals(env.step(0).info?.frameNumber, 4);
  });
});

test("seeds sticky actions as Gymnasium does", () => {
  withEnv((env) => {
    const [, seed] = seedSequence(7, 2);
    withEnv((plain) => {
      const first = env.reset({ seed: 7 });
      plain.ale.reload(seed);
      plain.ale.reset();
      assertEquals(first, plain.ale.ram());
      for (let i = 0; i < 50; i++) {
        for (let frame = 0; frame < 4; frame++) plain.ale.act(3 + i % 2);
        assertEquals(env.step(2 + i % 2).observation, plain.ale.ram());
      }
    }, { obsType: "ram" });
  }, { obsType: "ram" });
});

test("truncates at the frame limit and terminates at the game's end", () => {
  withEnv((env) => {
    env.reset({ seed: 1 });
    const { terminated, truncated } = env.step(0);
    assertEquals([terminated, truncated], [false, false]);
    const last = env.step(0);
    assertEquals([last.terminated, last.truncated], [false, true]);
    assertEquals(last.info?.episodeFrameNumber, 6);
    assertThrows(() => env.step(0), Error, "ended in the step before");
  }, { maxNumFramesPerEpisode: 6 });
  withEnv((env) => {
    env.reset({ seed: 1 });
    let result = env.step(1);
    for (let i = 0; !result.terminated; i++) result = env.step(i % 2);
    assertEquals([result.truncated, result.info?.lives], [false, 0]);
    assertThrows(() => env.step(0), Error, "call reset first");
  }, { obsType: "ram" });
});

test("takes options that are undefined as left out", () => {
  const options: AtariEnvOptions = {
    mode: undefined,
    difficulty: undefined,
    maxNumFramesPerEpisode: undefined,
    frameskip: undefined,
    systemSeed: undefined,
  };
  const course = (options: AtariEnvOptions) =>
    withEnv((env) => {
      env.reset({ seed: 3 });
      return env.step(1).observation;
    }, { ...options, obsType: "ram" });
  assertEquals(course(options), course({}));
});

test("draws its screen in any size", () => {
  withEnv((env) => {
    const screen = env.reset({ seed: 1 });
    assertEquals(env.render(), { width: 160, height: 210, data: screen });
    const { data } = env.render({ width: 320, height: 420 });
    const pixel = (at: number, bytes: Uint8Array) => bytes.slice(at, at + 3);
    for (const [x, y] of [[0, 0], [80, 100], [159, 209]]) {
      assertEquals(
        pixel(3 * (2 * y * 320 + 2 * x), data),
        pixel(3 * (y * 160 + x), screen),
      );
    }
    assertThrows(() => env.render({ width: 0 }), RangeError, "0 by 210");
  });
});

test("refuses wrong settings, actions and snapshots", () => {
  const refused: [object, typeof RangeError | typeof TypeError, string][] = [
    [{ frameskip: 0 }, RangeError, "with frameskip 0: expected a whole number"],
    [{ frameskip: [3, 3] }, RangeError, "[ 3, 3 ]: expected a whole number"],
    [{ frameskip: 2.5 }, RangeError, "of at least 1, or two that rise"],
    [{ frameskip: "12" }, TypeError, 'with frameskip "12": expected'],
    [{ frameskip: null }, TypeError, "with frameskip null: expected"],
    [{ frameskip: true }, TypeError, "with frameskip true: expected"],
    [{ obsType: "video" }, RangeError, 'obsType "video": expected rgb, gray'],
    [{ fullActionSpace: "no" }, TypeError, '"no": expected true or false'],
    [{ repeatActionProbability: "0.5" }, TypeError, "expected 0 to 1"],
    [{ mode: 3 }, RangeError, "no mode of breakout 3"],
    [{ frameskp: 3 }, TypeError, "did you mean 'frameskip'?"],
  ];
  for (const [options, type, message] of refused) {
    assertThrows(() => new AtariEnv("breakout", options), type, message);
  }
  withEnv((env) => {
    assertThrows(() => env.step(0), Error, "has not begun");
    env.reset({ seed: 1 });
    const before = env.save();
    assertThrows(() => env.step(4), RangeError, "Cannot take action 4");
    assertThrows(() => env.reset({ seed: -1 }), RangeError, "with -1");
    assertThrows(() => env.load({ ale: null }), TypeError, "no 'random'");
    assertEquals(env.save(), before);
  });
});
