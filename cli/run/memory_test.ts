import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { box, discrete } from "@bellman/envs";
import { resolveConfig } from "../config/resolve.ts";
import type { Entry } from "../config/schema.ts";
import { checkMemory, estimateMemory } from "./memory.ts";
import { UsageError } from "../terminal/errors.ts";

const GIBIBYTE = 2 ** 30;
const cartPole = {
  observationSpace: box({ low: -1, high: 1, shape: [4] }),
  actionSpace: discrete(2),
};
const pendulum = {
  observationSpace: box({ low: -1, high: 1, shape: [3] }),
  actionSpace: box({ low: -2, high: 2, shape: [1] }),
};
const a2c = (...entries: Entry[]) => resolveConfig("a2c", { entries });
const sac = (...entries: Entry[]) =>
  resolveConfig("sac", { entries: [["env", "Pendulum-v1"], ...entries] });

/** Spaces of Atari: four frames, six actions. */
const image = {
  observationSpace: box({
    low: 0,
    high: 255,
    shape: [84, 84, 4],
    dtype: "uint8",
  }),
  actionSpace: discrete(6),
};

Deno.test("what a machine has not is refused with the key that takes it", () => {
  const cases: [Entry, string, string][] = [
    [["numSteps", 1e8], "numSteps = 100000000", "a2c"],
    [["hiddenSizes", [1e6, 1e6]], "hiddenSizes = [1000000,1000000]", "a2c"],
    [["hiddenSizes", [1e5, 1e5]], "hiddenSizes = [100000,100000]", "sac"],
    [["bufferSize", 1e12], "bufferSize = 1000000000000", "sac"],
    [["frameStack", 1024], "", "a2c"],
  ];
  for (const [entry, named, algorithm] of cases) {
    const [config, spaces] = algorithm === "a2c"
      ? [a2c(entry), cartPole]
      : [sac(entry), pendulum];
    if (named === "") {
      assertEquals(checkMemory(config, spaces, 24 * GIBIBYTE), undefined);
      continue;
    }
    const error = assertThrows(
      () => checkMemory(config, spaces, 24 * GIBIBYTE),
      UsageError,
    );
    assert(error.message.startsWith(`Cannot train with ${named}: that takes`));
    assert(
      error.message.includes("expected at most the 24.0 GiB of this machine"),
      error.message,
    );
  }
});

Deno.test("a replay buffer that does not fit names one that does", () => {
  const cases = [
    [sac(["bufferSize", 1e6]), image],
    [sac(["bufferSize", 1e12]), pendulum],
    [resolveConfig("acer", { entries: [["bufferSize", 1e6]] }), image],
  ] as const;
  for (const [config, spaces] of cases) {
    const { message } = assertThrows(
      () => checkMemory(config, spaces, 8 * GIBIBYTE),
      UsageError,
    );
    const named = /; --set bufferSize=(\d+) fits$/.exec(message);
    assert(named !== null, message);
    const bufferSize = Number(named[1]);
    checkMemory({ ...config, bufferSize }, spaces, 8 * GIBIBYTE);
    const larger = { ...config, bufferSize: bufferSize * 1.2 };
    assertThrows(() => checkMemory(larger, spaces, 8 * GIBIBYTE), UsageError);
    assertEquals(bufferSize % ((config.numSteps as number) ?? 1), 0);
  }
  const tooSmall = sac(["bufferSize", 1e6], ["learningStarts", 900_000]);
  const { message } = assertThrows(
    () => checkMemory(tooSmall, image, 8 * GIBIBYTE),
    UsageError,
  );
  assert(message.endsWith("of this machine"), message);
});

Deno.test("segments of frames take memory, or a file", () => {
  const frames = { ...image, stackedFrames: 4 };
  const acer = (...entries: Entry[]) =>
    estimateMemory(
      resolveConfig("acer", { entries: [["env", "ALE/Pong-v5"], ...entries] }),
      frames,
    ).bufferSize;
  // 2,500 segments of 25 frames of 7,056 bytes, of 16 environments.
  const inMemory = acer(["replayStorage", "memory"]);
  assertAlmostEquals(inMemory / (2500 * 25 * 7056 * 16), 1, 0.01);
  assert(acer() < 2 ** 26); // the preset keeps them in a file
});

Deno.test("a million transitions take memory, or a file", () => {
  const wide = { ...pendulum, observationSpace: box({ shape: [376] }) };
  const sacWith = (...entries: Entry[]) =>
    estimateMemory(sac(["bufferSize", 1e6], ...entries), wide).bufferSize;
  assert(sacWith() > 1.4 * GIBIBYTE);
  const inFile = sacWith(["replayStorage", "file"]);
  assert(inFile < 50e6, `${inFile}`);
  const prioritized: Entry[] = [["replay", "rank"], ["replayStorage", "file"]];
  assertEquals(sacWith(...prioritized), inFile + 24e6);
});

Deno.test("much memory is said, the presets' is not", () => {
  assertEquals(
    checkMemory(a2c(["numSteps", 1e6]), cartPole, 24 * GIBIBYTE),
    "This run takes about 16.4 GiB of memory, most of it for numSteps = 1000000",
  );
  for (
    const [config, spaces] of [[a2c(), cartPole], [sac(), pendulum]] as const
  ) {
    assertEquals(checkMemory(config, spaces, GIBIBYTE), undefined);
  }
});

Deno.test("a recurrent network, a mixture and images count by their own keys", () => {
  const most = (uses: Record<string, number>) =>
    Object.entries(uses).reduce((a, b) => b[1] > a[1] ? b : a)[0];
  const lstm = a2c(["network", "lstm"], ["lstmSize", 1e5]);
  assertEquals(most(estimateMemory(lstm, cartPole)), "lstmSize");
  const rows = a2c(["network", "cnn"], ["numSteps", 1e5]);
  assertEquals(most(estimateMemory(rows, image)), "numSteps");
  const chosen = a2c(["network", "auto"], ["numSteps", 1e5]);
  assertEquals(estimateMemory(chosen, image), estimateMemory(rows, image));
  const stored = sac(["bufferSize", 1e6]);
  const { bufferSize } = estimateMemory(stored, image);
  assert(bufferSize > 26 * GIBIBYTE && bufferSize < 28 * GIBIBYTE);
  const shared = { ...image, stackedFrames: 4 };
  assert(estimateMemory(stored, shared).bufferSize < bufferSize / 3);
});
