import { assert, assertEquals, assertThrows } from "@std/assert";
import { checkEnv } from "../check_env.ts";
import { contains, sample } from "../spaces/values.ts";
import { SeededRandom } from "../random.ts";
import type { DictSpace, SpaceValue } from "@bellman/types";
import {
  childrenOf,
  isGone,
  isProcess,
} from "../workers/processes/testdata/processes.ts";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import { type GymnasiumOptions, hasGymnasium } from "./python.ts";
import { GymnasiumVecEnv } from "./gymnasium_vec_env.ts";
import { canMake, NO_GYMNASIUM, PYTHON, test } from "./testdata/python.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const COUNTER = "odd_envs:odd/Counter-v1";
const ECHO = "odd_envs:odd/Echo-v0";

function open(id: string, options: GymnasiumOptions = {}): GymnasiumEnv {
  return new GymnasiumEnv(id, { python: PYTHON, ...options });
}

for (const space of ["all", "tuple", "discrete from 3", "box of no axes"]) {
  test(`values of the space '${space}' arrive as they were sent`, () => {
    const env = open(ECHO, { kwargs: { space } });
    const random = new SeededRandom(4);
    assert(contains(env.observationSpace, env.reset({ seed: 1 })));
    for (let i = 0; i < 20; i++) {
      const action = sample(env.actionSpace, random);
      // Half-precision numbers that are no such ones would be rounded.
      const half = (action as Record<string, SpaceValue>)["box float16"];
      if (half !== undefined) (half as Float32Array).set([0.25, i / 32]);
      const { observation, reward } = env.step(action);
      assertEquals([observation, reward], [action, 1.5]);
    }
    env.close();
  });
}

test("each space has its counterpart", () => {
  const env = open(ECHO, { kwargs: { space: "all" } });
  const { spaces } = env.observationSpace as DictSpace;
  assertEquals(spaces["discrete from 3"], { type: "discrete", n: 4, start: 3 });
  assertEquals(spaces["box float64"], {
    type: "box",
    shape: [2],
    low: [-Infinity, 0],
    high: [0.5, Infinity],
    dtype: "float32",
  });
  const box = (name: string): unknown => {
    const { type: _, ...rest } = spaces[name] as unknown as { type: string };
    return rest;
  };
  const bits = { shape: [4], low: 0, high: 1, dtype: "uint8" };
  assertEquals(box("box bool"), bits);
  const pixels = { shape: [4, 2, 3], low: 0, high: 255, dtype: "uint8" };
  assertEquals(box("box uint8"), pixels);
  const half = { shape: [2], low: 0, high: 1, dtype: "float32" };
  assertEquals(box("box float16"), half);
  const words = { shape: [3], low: 0, high: 65_535, dtype: "int32" };
  assertEquals(box("box uint16"), words);
  const integers = { shape: [2], low: -1000, high: 1000, dtype: "int32" };
  assertEquals(box("box int64"), integers);
  const nvec = [3, 2, 4, 5];
  assertEquals(box("multi-discrete of two axes"), { nvec });
  assertEquals(box("multi-binary of two axes"), { n: 6 });
  assertEquals(Object.keys((spaces.dict as DictSpace).spaces), ["a", "b"]);
  env.close();
});

test("bounds beyond 32 bits are those of 32 bits", () => {
  const env = open(COUNTER, { kwargs: { odd: "int64" } });
  assertEquals(env.observationSpace, {
    type: "box",
    shape: [1],
    low: -(2 ** 31),
    high: 2 ** 31 - 1,
    dtype: "int32",
  });
  env.close();
});

test("a number that the environment's type cannot hold is refused", () => {
  const env = open(ECHO, { kwargs: { space: "box int8" } });
  env.reset({ seed: 0 });
  assertRefused({
    "Error: an action holds 300: expected numbers that int8 can hold": () =>
      env.step(Int32Array.of(1, 2, 300)),
  });
  // The environment goes on.
  const action = Int32Array.of(1, 2, -3);
  assertEquals(env.step(action).observation, action);
  assertThrows(() => env.step(Int32Array.of(1)), RangeError, "int32 numbers");
  env.close();
});

const cases = [
  ["text", "Text(1, 5, charset="],
  ["graph", "Graph("],
  ["sequence", "Sequence(Discrete(2), stack=False) of"],
  ["one of", "OneOf(Discrete(2), Discrete(3)) of"],
  ["complex box", "it holds complex64 numbers of shape (1,)"],
  ["no parts", "as it holds no values: change it"],
];
for (const [space, why] of cases) {
  test(`the space '${space}' is refused in one line`, () => {
    const error = assertThrows(
      () => open(ECHO, { kwargs: { space } }),
      TypeError,
      "Cannot use the observation space ",
    );
    assert(error.message.includes(why), error.message);
    assert(error.message.includes("option 'wrappers'"));
    assert(!error.message.includes("\n"));
  });
}

test("bridged environments keep the promises of an environment", () => {
  for (const id of ["CartPole-v1", "FrozenLake-v1", "Blackjack-v1"]) {
    const env = open(id);
    checkEnv(env, { render: false });
    env.close();
  }
});

Deno.test("LunarLander-v3 keeps the promises of an environment [Box2D]", {
  ignore: !canMake("LunarLander-v3"),
}, () => {
  const env = open("LunarLander-v3");
  checkEnv(env);
  assertEquals(env.render().width, 600);
  env.close();
});

test("pictures have the size that is asked for", () => {
  const env = open(COUNTER);
  env.reset({ seed: 0 });
  env.step(0);
  const { width, height, data } = env.render();
  assertEquals([width, height], [4, 2]);
  assertEquals([...data.slice(3, 6), ...data.slice(-3)], [10, 20, 30, 1, 1, 1]);
  const half = env.render({ width: 2, height: 1 });
  assertEquals([half.width, half.height, half.data.length], [2, 1, 6]);
  assertEquals([...half.data.slice(0, 3)], [2, 5, 8]);
  env.close();
  const blind = open(COUNTER, { kwargs: { render_mode: "ansi" } });
  blind.reset();
  const message = `Cannot render '${COUNTER}' in its render mode ansi`;
  assertThrows(() => blind.render(), TypeError, message);
  blind.close();
});

test("what the environment raises is told with its traceback", () => {
  const env = open(COUNTER, { kwargs: { odd: "raise" } });
  env.reset({ seed: 0 });
  env.step(0);
  env.step(0);
  const error = assertThrows(
    () => env.step(1),
    Error,
    `Cannot step ${COUNTER}: Python raised ValueError: the first line`,
  );
  assert(!error.message.includes("\n"));
  assert((error.cause as Error).stack!.includes("in do_raise"));
  assertEquals(env.reset(), Float32Array.of(0));
  env.close();
});

for (const id of ["odd_envs:odd/Legacy-v0", "odd_envs:odd/Legacy-v1"]) {
  test(`what ${id} returns is told where it is not what Gymnasium asks for`, () => {
    const reset = open(id, { kwargs: { old: "reset" } });
    assertRefused({
      [`Error: Cannot use the data of gym:${id}, copy 0: reset returned an object of type 'ndarray': expected a tuple of two, (observation, info)`]:
        () => reset.reset({ seed: 0 }),
    });
    reset.close();
    const step = open(id, { kwargs: { old: "step" } });
    step.reset({ seed: 0 });
    assertRefused({
      [`Error: Cannot use the data of gym:${id}, copy 0: step must return (observation, reward, terminated, truncated, info): not enough values to unpack (expected 5, got 4)`]:
        () => step.step(0),
    });
    step.close();
    // What an environment itself cannot unpack is another matter.
    const own = open(id, { kwargs: { old: "own" } });
    own.reset({ seed: 0 });
    assertRefused({
      "Error: raised ValueError: too many values to unpack (expected 2": () =>
        own.step(0),
    });
    own.close();
  });
}

test("an environment gets the lowest 32 bits of a seed", () => {
  const env = open("odd_envs:odd/Legacy-v1");
  for (
    const [seed, seen] of [[7, 7], [2 ** 32 - 1, 2 ** 32 - 1], [2 ** 32, 0]]
  ) {
    assertEquals(env.reset({ seed }), Float64Array.of(seen));
  }
  env.close();
});

for (
  const [odd, message] of [
    ["hang", "it gave no answer within 200 ms"],
    ["exit", "ended with code 7: its last line is 'about to exit'"],
  ]
) {
  test(`an environment that does '${odd}' is broken from then on`, () => {
    const env = open(COUNTER, {
      kwargs: { odd },
      stepTimeoutMs: odd === "hang" ? 200 : undefined,
    });
    env.reset({ seed: 0 });
    env.step(0);
    env.step(0);
    for (const use of [() => env.step(1), () => env.reset()]) {
      const error = assertThrows(use, Error, message);
      const { stack } = error.cause as Error;
      assert(stack!.includes(`about to ${odd}`), stack);
    }
    env.close();
  });
}

test("an episode that cannot be played again is truncated", () => {
  const env = open(COUNTER, { kwargs: { odd: "random" } });
  env.reset({ seed: 0 });
  env.step(0);
  env.step(0);
  const { observation } = env.step(1);
  env.load(env.save());
  const lost = { observation, reward: 0, terminated: false, truncated: true };
  assertEquals(env.step(0), lost);
  assertThrows(() => env.step(0), Error, "call reset first");
  env.reset();
  assertEquals(env.step(0).observation, Float32Array.of(1));
  env.close();
});

test("a process that stood still waits again before it gives up", () => {
  const env = open(COUNTER, { kwargs: { pause: 0.3 }, stepTimeoutMs: 1_000 });
  env.reset({ seed: 0 });
  const { now } = performance, start = performance.now();
  // Stopped for an hour in the midst of a step, as its host was.
  performance.now = () => {
    const time = now.call(performance);
    return time - start > 100 ? time + 3_600_000 : time;
  };
  try {
    assertEquals(env.step(0).observation, Float32Array.of(1));
  } finally {
    performance.now = now;
    env.close();
  }
});

test("a restore may take as long as the steps before it", () => {
  const env = open(COUNTER, { kwargs: { pause: 0.3 }, stepTimeoutMs: 1_000 });
  env.reset({ seed: 0 });
  for (let t = 0; t < 4; t++) env.step(0);
  env.load(env.save());
  assertEquals(env.step(0).observation, Float32Array.of(5));
  env.close();
});

Deno.test("time-outs that cannot be are refused", () => {
  for (const name of ["stepTimeoutMs", "startTimeoutMs"]) {
    for (const value of [NaN, 0, -5, 0.5]) {
      assertRefused({
        [`RangeError: Cannot host environments with ${name} ${value}: expected a whole number of at least 1`]:
          () => open("CartPole-v1", { [name]: value }),
      });
    }
  }
});

test("without a version the latest one is made, with pictures", () => {
  const env = open("odd_envs:odd/Counter");
  assertEquals(env.spec.maxEpisodeSteps, undefined);
  env.reset({ seed: 0 });
  assertEquals(env.render().width, 4);
  env.close();
});

test("steps outside of an episode are refused", () => {
  const env = open(COUNTER);
  assertThrows(() => env.step(0), Error, "has not begun: call reset first");
  env.reset();
  assertThrows(() => env.step(2), RangeError, "from 0 to 1");
  assertThrows(() => env.reset({ seed: -1 }), RangeError, "seed");
  env.close();
  env.close();
  assertThrows(() => env.reset(), TypeError, "which was closed");
});

/** What opening an environment throws. */
function refusal(id: string, options: GymnasiumOptions = {}): Error {
  const error = assertThrows(() => open(id, options), Error);
  assert(!error.message.includes("\n"), error.message);
  return error;
}

test("an unknown id is told with the nearest name", () => {
  const wrong = refusal("CartPol-v1");
  assert(wrong instanceof RangeError);
  assert(wrong.message.includes("did you mean 'CartPole-v1'?"));
  assert(refusal("CartPole-v9").message.includes("'CartPole-v1'?"));
  // It is asked for as the unknown one was: with its module in front.
  const { message: own } = refusal("odd_envs:odd/Countr-v0");
  assert(own.includes("mean 'odd_envs:odd/Counter-v0'?"), own);
  const { message } = refusal("Nowhere/Thing-v0");
  assert(message.includes("namespace 'Nowhere'"), message);
  assert(message.includes("'module:Nowhere/Thing-v0'"), message);
  assert(message.includes("option 'modules' (of a training"), message);
});

test("an environment that cannot be made is told in one line", () => {
  const imported = refusal("CartPole-v1", { modules: ["odd_import"] }).message;
  const place = / \(.*[\\/]odd_import\.py:3\)$/;
  assertEquals(
    imported.replace(place, ""),
    "Cannot import the module 'odd_import' for 'CartPole-v1': ModuleNotFoundError: No module named 'a_package_that_nobody_has'",
  );
  assert(place.test(imported), imported);
  const { message } = refusal("CartPole-v1", { kwargs: { gravity: 3 } });
  assert(message.startsWith("Cannot make 'CartPole-v1': TypeError: "), message);
  const wrapper = { name: "gymnasium.wrappers:NoSuchWrapper" };
  const other = refusal("CartPole-v1", { wrappers: [wrapper] }).message;
  assert(other.includes("NoSuchWrapper"), other);
});

Deno.test("options that JSON cannot hold are refused", () => {
  for (const value of [NaN, () => 1, 3n, new Float32Array(1), undefined]) {
    const kwargs = { deep: [{ value }] };
    assertRefused({
      "TypeError: Cannot give kwargs.deep.0.value to Python as it is ": () =>
        open("CartPole-v1", { kwargs }),
    });
  }
});

Deno.test("a Python that is none is told in one line", () => {
  const error = refusal("CartPole-v1", { python: "no-such-python" });
  assert(error instanceof TypeError);
  assert(error.message.startsWith("Cannot start Python 'no-such-python'"));
  assert(error.message.includes("BELLMAN_PYTHON"));
  const { message } = refusal("CartPole-v1", { python: Deno.execPath() });
  assert(message.includes("its process ended with code 1"), message);
  const idle = refusal("CartPole-v1", { python: "true" });
  assert(idle.message.startsWith("Cannot host environments in 'true'"));
  assert(!hasGymnasium({ python: "no-such-python" }));
});

test("a Python without Gymnasium is told in one line", () => {
  // Isolated from site-packages, no Python has it.
  const bare = Deno.makeTempFileSync({ suffix: ".sh" });
  Deno.writeTextFileSync(bare, `#!/bin/sh\nexec "${PYTHON}" -I -S "$@"\n`);
  Deno.chmodSync(bare, 0o755);
  const { message } = refusal("CartPole-v1", { python: bare });
  assert(message.startsWith("Cannot import Gymnasium in "), message);
  assert(message.includes("-m pip install gymnasium"), message);
  assert(message.includes("or set BELLMAN_PYTHON"), message);
  assert(!hasGymnasium({ python: bare }));
  Deno.removeSync(bare);
});

Deno.test(
  "a variable that may not be read is told where Python is a wrong one",
  { permissions: { run: true, read: true } },
  () => {
    const { message } = refusal("CartPole-v1", { python: "no-such-python" });
    assert(message.includes("--allow-env=BELLMAN_PYTHON"), message);
  },
);

Deno.test("a Python that cannot be served is one clear error at once", {
  permissions: { run: true },
}, () => {
  assertRefused({
    "NotCapable: Cannot start workers without the permission to read": () =>
      open("CartPole-v1"),
  });
});

const onLinux = { ignore: NO_GYMNASIUM || Deno.build.os !== "linux" };

const HANGS = { hang: "in Python", lock: "in native code with Python's lock" };

for (const [odd, where] of Object.entries(HANGS)) {
  Deno.test(
    `a step that never ends ${where} ends with a program that is killed [Gymnasium]`,
    onLinux,
    async () => {
      const program = new URL("testdata/hanging.ts", import.meta.url).pathname;
      const parent = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "-q", program, odd],
        stdout: "piped",
      }).spawn();
      const reader = parent.stdout.getReader();
      assert(!(await reader.read()).done);
      const [host] = await childrenOf(parent.pid);
      assert(isProcess(host));
      // It has entered the step by then.
      await new Promise((resolve) => setTimeout(resolve, 200));
      parent.kill("SIGKILL");
      await parent.status;
      await reader.cancel();
      assert(await isGone(host));
    },
  );
}

test("a single environment has the numbers of the copy with its seed", () => {
  const one = open("Acrobot-v1");
  const many = new GymnasiumVecEnv("Acrobot-v1", {
    numEnvs: 2,
    python: PYTHON,
  });
  const batch = many.reset({ seed: [11, 12] }) as Float32Array;
  assertEquals(one.reset({ seed: 12 }), batch.slice(6) as SpaceValue);
  const step = many.step(Int32Array.of(0, 2));
  const seen = (step.observations as Float32Array).slice(6);
  assertEquals(one.step(2).observation, seen as SpaceValue);
  const pids = many.pids();
  one.close();
  many.close();
  assertEquals(pids.map(isProcess), [false]);
});
