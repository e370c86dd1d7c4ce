import { assert, assertEquals, assertThrows } from "@std/assert";
import { checkEnv, make, makeVec } from "../mod.ts";
import { cloneBatch } from "../spaces/batch.ts";
import type { StateTree } from "@bellman/types";
import { PageVecEnv, registerPage } from "./mod.ts";
import {
  inPages,
  inPrograms,
  numbersOf,
  type Played,
  programOf,
  testInPages,
} from "./testdata/games.ts";

/** Plays both sides with the same actions, and compares all numbers. */
function assertSame(id: string, rounds: number, { env }: Played): void {
  const alone = makeVec(id, { numEnvs: env.numEnvs });
  const first = env.reset({ seed: 7 });
  assertEquals(first, alone.reset({ seed: 7 }) as Float32Array);
  let ends = 0;
  for (let i = 0; i < rounds; i++) {
    const actions = Int32Array.from(
      { length: env.numEnvs },
      (_, row) => (i * 7 + row * 3 >> 2) % 2,
    );
    const step = env.step(actions), other = alone.step(actions);
    assertEquals(numbersOf(step).slice(0, 4), numbersOf(other).slice(0, 4));
    for (let row = 0; row < env.numEnvs; row++) {
      if (step.terminated[row] + step.truncated[row] === 0) continue;
      ends++;
      const size = first.length / env.numEnvs;
      const last = [step, other].map((it) =>
        (it.finalObservations as Float32Array)
          .slice(size * row, size * row + size)
      );
      assertEquals(last[0], last[1]);
    }
  }
  assert(ends > 3);
}

for (const id of ["CartPole-v1", "MountainCar-v0", "Acrobot-v1"]) {
  testInPages(`${id} in a page has the numbers of this process`, () =>
    inPages(
      "own_game",
      { numEnvs: 4, workers: 2, kwargs: { id } },
      (it) => assertSame(id, 600, it),
    ));
}

testInPages(
  "games at their own pace have all of their frames, in each tab",
  () =>
    inPages(
      "paced_game",
      // A hidden tab would have a frame a second.
      { numEnvs: 4, workers: 2, stepTimeoutMs: 3_000 },
      ({ env, failures }) => {
        env.reset({ seed: 1 });
        for (let i = 0; i < 10; i++) env.step(Int32Array.of(1, 2, 1, 0));
        assertEquals(failures, []);
      },
    ),
);

Deno.test("environments in a program have the numbers of this process", () =>
  inPrograms(
    "own_game",
    { numEnvs: 3, kwargs: { id: "CartPole-v1" } },
    (it) => assertSame("CartPole-v1", 200, it),
  ));

for (const saves of [true, false]) {
  const what = saves ? "saved" : "played again";
  Deno.test(`an episode that is ${what} goes on exactly`, () =>
    inPrograms(
      "counter_game",
      { numEnvs: 3, workers: 2, kwargs: { saves } },
      ({ env, failures }) => {
        env.reset({ seed: [0, 1, 2] });
        const play = (count: number) =>
          Array.from({ length: count }, (_, i) =>
            numbersOf(
              env.step(Int32Array.of(1 + i % 2, i % 3, 2 - i % 2)),
            ));
        play(2);
        const saved = structuredClone(env.save());
        const seen = cloneBatch(env.observations());
        const after = play(9);
        env.load(saved);
        assertEquals(env.observations(), seen as Float32Array);
        assertEquals(play(9), after);
        assertEquals(failures, []);
      },
    ));
}

Deno.test("a state is restored in another program as it was saved", async () => {
  const still = Int32Array.of(0, 0);
  let saved: StateTree = {};
  const after: Float64Array[] = [];
  await inPrograms("noted_game", {}, ({ env }) => {
    env.reset({ seed: 1 });
    env.step(still);
    saved = structuredClone(env.save());
    after.push(env.step(still).observations.slice() as never);
  });
  await inPrograms("noted_game", {}, ({ env, failures }) => {
    env.load(saved);
    assertEquals(env.step(still).observations, after[0] as never);
    assertEquals(failures, []);
  });
});

Deno.test("an episode that cannot be played again is cut off by the next step", () =>
  inPrograms("careless_game", { numEnvs: 1 }, ({ env }) => {
    env.reset({ seed: 1 });
    env.step(Int32Array.of(0));
    const seen = cloneBatch(env.observations());
    const saved = env.save();
    env.load(saved);
    const step = env.step(Int32Array.of(0));
    assertEquals([...step.truncated, ...step.rewards], [1, 0]);
    assertEquals(step.finalObservations, seen as Float32Array);
    assertEquals(step.lost, undefined);
    assertEquals([...env.step(Int32Array.of(0)).truncated], [0]);
  }));

Deno.test("one world is an environment", () => {
  const id = programOf("chase_game");
  registerPage(id);
  const env = make(id);
  try {
    checkEnv(env, { steps: 100, playSeconds: 0, render: false });
    assertThrows(() => env.render(), TypeError, "Cannot draw program:");
  } finally {
    env.close();
  }
});

Deno.test("agents of a world are rows side by side", () =>
  inPrograms(
    "counter_game",
    { numEnvs: 4, workers: 2, kwargs: { agents: 2, masks: true } },
    ({ env }) => {
      assertEquals(env.actionMasks?.length, 12);
      const first = env.reset({ seed: [2, 0, 1, 0] });
      assertEquals(first, Float32Array.of(.125, 0, -.125, 0, 0, 0, -0, 0));
      const { rewards } = env.step(Int32Array.of(2, 0, 1, 0));
      assertEquals(rewards, Float64Array.of(1.5, 1.5, 0.5, 0.5));
    },
  ));

Deno.test("parameters are those of episodes that begin later, in programs that replace others, too", () =>
  inPrograms(
    "counter_game",
    { numEnvs: 1, kwargs: { fault: "throw" } },
    ({ env, failures }) => {
      env.reset({ seed: 1 });
      env.setParameters({ shift: 1 });
      assertEquals([...env.observations()], [0, 0]);
      const up = Int32Array.of(2), still = Int32Array.of(1);
      assertEquals([...env.step(up).observations], [.125, 1]);
      const saved = env.save();
      for (let i = 0; i < 3; i++) env.step(still);
      assertEquals([...env.observations()], [.125, 0]);
      const { lost, observations } = env.step(up);
      assertEquals([lost, failures.length], [[0], 1]);
      assertEquals([...observations].at(1), 0);
      env.setParameters({});
      env.load(saved);
      for (let i = 0; i < 3; i++) env.step(still);
      assertEquals([...env.observations()], [.125, 0]);
    },
  ));

testInPages("a program of Node offers a game as well", async () => {
  const { bundle } = await import("./testdata/page_server.ts");
  const file = await Deno.makeTempFile({ suffix: ".mjs" });
  const game = new URL("./testdata/counter_game.ts", import.meta.url);
  await Deno.writeTextFile(file, await bundle(game));
  // Node 22 needs no flag.
  const flag = "$(node --help | grep -o -- --experimental-websocket | head -1)";
  const env = new PageVecEnv(`program:node ${flag} ${file}`, { numEnvs: 1 });
  env.reset({ seed: 1 });
  assertEquals([...env.step(Int32Array.of(2)).rewards], [0.5]);
  env.close();
  await Deno.remove(file);
});

/** What a program that answers so gets, where it is opened or in the first steps. */
const WRONG: Record<string, string> = {
  json: 'its answer is the text "hello", expected JSON with a type',
  untyped: 'its answer is the text "3", expected JSON with a type',
  binary: "its answer is 8 bytes, expected the text 'opened'",
  protocol: "its answer is of protocol 2, expected protocol 1",
  spaceless:
    "its answer is without actionSpace, expected the spaces of a world",
  spaces: "Cannot make a discrete space of 0: expected",
  exit: "its program ended with code 3",
  long: "it is of 40 bytes, expected 32",
  short: "it is of 24 bytes, expected 32",
  text: "it is the text 'done', expected numbers",
  two: "it is a second one to the same message, expected one",
  unsaved: "it is without states, expected one of each world",
  bounds: "Cannot make a box with the bounds null: expected numbers",
  huge: "Cannot use a space of 1000000000000000000 numbers: expected at most",
  nvec: 'Cannot make a multi-discrete space of "33": expected numbers',
  spec: 'its answer is with the spec {"maxEpisodeSteps":-1}, expected numbers',
  endless: "it is of 32 bytes, expected 40",
  nan: "Cannot use the reward of program:",
  loadless: "Cannot save a world that has no 'load'",
  constructor: "no ball",
};

for (const [argument, message] of Object.entries(WRONG)) {
  Deno.test(`a program's wrong answer is one line: ${argument}`, () => {
    const error = assertThrows(
      () => {
        const id = programOf("odd_program", argument);
        const env = new PageVecEnv(id, { numEnvs: 1, restarts: 1 });
        try {
          env.reset({ seed: 1 });
          for (let i = 0; i < 3; i++) env.step(Int32Array.of(2));
          env.save();
        } finally {
          env.close();
        }
      },
      Error,
      message,
    );
    assert(error instanceof Error && !error.message.includes("\n"));
    assert(/environment 0|copy 0/.test(error.message), error.message);
  });
}

Deno.test("programs of other spaces are refused", () => {
  assertThrows(
    () => new PageVecEnv(programOf("uneven_game"), { numEnvs: 2, workers: 2 }),
    Error,
    "its actions are",
  );
});

Deno.test("a program that does not connect in time is one line", () => {
  const id = programOf("odd_program", "silent");
  assertThrows(
    () => new PageVecEnv(id, { numEnvs: 1, startTimeoutMs: 1_000 }),
    Error,
    "Cannot start environment 0: no program connected to ws://127.0.0.1:",
  );
});

Deno.test("programs without the network are one line at once", {
  permissions: { read: true, write: true, run: true, env: true, sys: true },
}, () => {
  assertThrows(
    () => new PageVecEnv("program:true", { numEnvs: 1 }),
    Error,
    "Cannot start environment 0: Requires net access",
  );
});

Deno.test("rows that do not fill worlds are refused", () => {
  assertThrows(
    () =>
      new PageVecEnv(programOf("counter_game"), {
        ...{ numEnvs: 3, kwargs: { agents: 2 } },
      }),
    RangeError,
    "Cannot make 3 environments of worlds with 2 agents: expected a multiple of 2 in each page or program",
  );
});

Deno.test("ids that name no game are refused", () => {
  for (const id of ["page:game.html", "page:", "program: ", "CartPole-v1"]) {
    assertThrows(() => new PageVecEnv(id, { numEnvs: 1 }), SyntaxError, id);
  }
});

testInPages(
  "a page that is not there is one line",
  () =>
    inPages("counter_game", {}, ({ url }) => {
      const open = (id: string, options = {}) => () =>
        new PageVecEnv(id, { numEnvs: 1, startTimeoutMs: 20_000, ...options });
      assertThrows(
        open(`page:${url}missing`),
        Error,
        `Cannot start environment 0: ${url}missing answered 404`,
      );
      assertThrows(
        open("page:http://127.0.0.1:1/"),
        Error,
        "http://127.0.0.1:1/ cannot be loaded: net::ERR_",
      );
      assertThrows(
        open(`page:${url}`, { browser: "/nowhere/chrome" }),
        Error,
        "Cannot start environment 0: there is no browser '/nowhere/chrome'",
      );
    }),
);

testInPages("what a page throws before it connects is told", () =>
  inPages(
    "counter_game",
    {},
    ({ url }) =>
      void assertThrows(
        () =>
          new PageVecEnv(`page:${url}broken`, {
            ...{ numEnvs: 1, startTimeoutMs: 3_000 },
          }),
        Error,
        `no page connected to ${url}broken within 3000 ms: it threw Error: no canvas`,
      ),
  ));
