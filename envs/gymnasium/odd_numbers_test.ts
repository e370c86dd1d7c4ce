import { assert, assertEquals, assertThrows } from "@std/assert";
import { fileURLToPath } from "node:url";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import { GymnasiumVecEnv } from "./gymnasium_vec_env.ts";
import type { GymnasiumOptions } from "./python.ts";
import { PYTHON, test } from "./testdata/python.ts";

const FILE = fileURLToPath(new URL("testdata/odd_numbers.py", import.meta.url));
const OPTIONS = { python: PYTHON, modules: [FILE] };
/** Kinds of numbers, a kind a step of an episode. */
const KINDS = 7;

function withEnv<T>(
  id: string,
  use: (env: GymnasiumEnv) => T,
  kwargs: GymnasiumOptions["kwargs"] = {},
): T {
  const env = new GymnasiumEnv(id, { ...OPTIONS, kwargs });
  try {
    env.reset({ seed: 0 });
    return use(env);
  } finally {
    env.close();
  }
}

/** What is said of a step, after the copy; nothing if it can be used. */
function refusal(env: GymnasiumEnv): string | undefined {
  try {
    env.step(0);
  } catch (error) {
    const [start, reason] = (error as Error).message.split("copy 0: ");
    assert(start.startsWith("Cannot use the data of gym:"), start);
    return reason;
  }
}

const HALF = { sum: KINDS / 2, mean: 0.5, last: 0.5 };

test("observations, rewards, infos and ends are numbers of any kind", () =>
  withEnv("Numbers-v0", (env) => {
    assertEquals([env.spec.rewardThreshold, env.framesPerSecond], [10.5, 30]);
    for (let t = 1; t <= KINDS; t++) {
      assertEquals(env.step(0), {
        observation: Float32Array.of(0.5, 1, 0),
        reward: 0.5,
        terminated: t === KINDS,
        truncated: false,
        info: { half: 0.5 },
      });
    }
  }));

test("ends that are no truth values are told", () =>
  withEnv("Numbers-v1", (env) => {
    assertEquals(env.spec.rewardThreshold, undefined);
    for (const value of ["0.0", "[False]", "'False'", "None"]) {
      const says = `'terminated' is ${value}: expected True or False`;
      assertEquals(refusal(env), says);
    }
  }, { flags: "BAD_FLAGS" }));

test("objects that are no numbers, or do not fit, are told", () =>
  withEnv("Whole-v0", (env) => {
    assertEquals(env.spec.rewardThreshold, undefined);
    for (
      const says of [
        undefined,
        "an observation holds 0.5: expected numbers that int32 can hold",
        "an observation holds None: expected numbers",
        "an observation holds '1': expected numbers",
        "an observation holds <U1: expected real numbers",
        `an observation holds 1${"0".repeat(400)}: expected numbers`,
        "an observation holds complex128: expected real numbers",
        "an observation holds datetime64[D]: expected real numbers",
      ]
    ) assertEquals(refusal(env), says);
    const ragged = refusal(env);
    assert(ragged?.startsWith("an observation is no array: "), ragged);
  }));

test("an entry of info that first comes in a later episode is left out before, which is told once", () => {
  const env = new GymnasiumVecEnv("Numbers-v0", {
    ...OPTIONS,
    kwargs: { tells_from: 2 },
    numEnvs: 2,
    infoStatistics: ["half"],
  });
  env.reset({ seed: 0 });
  const episodes = Array.from(
    { length: 3 * KINDS },
    () => env.step(new Int32Array(2)).episodes ?? [],
  ).flat();
  env.close();
  assertEquals(
    episodes.map((it) => it.infoStatistics),
    [{}, {}, {}, {}, { half: HALF }, { half: HALF }],
  );
  assertEquals(episodes.flatMap((it) => it.notice ?? []), [
    "No step of an episode had info.half, which is left out of its record: the info had other",
  ]);
});

test("a copy that cannot be closed keeps no other from it, and a start that fails closes all", async () => {
  const log = await Deno.makeTempFile();
  const options = { ...OPTIONS, kwargs: { log } };
  const closed = () => Deno.readTextFileSync(log).split("\n").length - 1;
  const env = new GymnasiumVecEnv("Numbers-v0", { ...options, numEnvs: 3 });
  env.close();
  assertEquals(closed(), 3);
  assertThrows(() =>
    new GymnasiumVecEnv("Refused-v0", { ...options, numEnvs: 2 })
  );
  assertEquals(closed(), 5);
});

test("pictures may be gray, have opacity or other numbers", () =>
  withEnv("Numbers-v0", (env) => {
    for (const grey of [...Array(10).fill(51), 0, 255, 255]) {
      const { width, height, data } = env.render();
      assertEquals([width, height, ...data], [4, 2, ...Array(24).fill(grey)]);
    }
    for (let bad = 0; bad < 3; bad++) {
      const wanted = "expected numbers [height, width]";
      assertThrows(() => env.render(), Error, wanted);
    }
  }));

test("a module's file may have dots in its name", async () => {
  const file = `${await Deno.makeTempDir()}/env.v2.py`;
  await Deno.copyFile(FILE, file);
  // By its class, and by the name of its file.
  for (const id of ["Whole-v0", "Named-v0"]) {
    const env = new GymnasiumEnv(id, { ...OPTIONS, modules: [file] });
    assertEquals(env.reset({ seed: 0 }), new Int32Array(2));
    env.close();
  }
});
