import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Batch, World } from "@bellman/types";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";
import {
  checkWorld,
  ConnectFour,
  gameOf,
  randomPlayer,
  TicTacToe,
} from "../games/mod.ts";
import {
  type EnvRegistry,
  make,
  makeVec,
  makeWorld,
  SeededRandom,
} from "../mod.ts";
import {
  hasPettingZoo,
  PettingZooWorld,
  type PettingZooWorldOptions,
  registerPettingZoo,
} from "./mod.ts";
import { PYTHON } from "./testdata/python.ts";

const FOLDER = new URL("testdata", import.meta.url).pathname;
const SMALL = `${FOLDER}/small_games.py`;

const test = testsWith("PettingZoo", hasPettingZoo({ python: PYTHON }));

function open(
  id: string,
  options: PettingZooWorldOptions = {},
): PettingZooWorld {
  return new PettingZooWorld(id, { python: PYTHON, ...options });
}

function using<T>(world: PettingZooWorld, use: (it: PettingZooWorld) => T): T {
  try {
    return use(world);
  } finally {
    world.close();
  }
}

/** Opens one of the small games. */
function small(name: string, options: PettingZooWorldOptions = {}) {
  return open(`small_games:${name}`, { modules: [SMALL], ...options });
}

/** All that can be seen of worlds, as numbers. */
function viewOf(world: World): unknown {
  return [
    [...world.toAct],
    ...world.seats.map((_, seat) => [
      numbersOf(world.observe(seat)),
      [...world.actionMasks?.(seat) ?? []],
    ]),
  ];
}

function numbersOf(batch: Batch): unknown {
  return ArrayBuffer.isView(batch)
    ? [...batch as Uint8Array]
    : Object.entries(batch).map(([name, it]) => [name, numbersOf(it)]);
}

/** Lets the random player choose for all seats. */
function actionsOf(world: World, random: SeededRandom): Int32Array[] {
  return world.seats.map((_, seat) => {
    const actions = new Int32Array(world.numEnvs);
    randomPlayer(world, { seat, actions, random });
    return actions;
  });
}

/** Plays on in all worlds and returns what was seen; games that are over begin anew. */
function play(world: World, random: SeededRandom, steps: number): unknown[] {
  const which = new Uint8Array(world.numEnvs).fill(1);
  const seats = world.seats.length;
  return Array.from({ length: steps }, () => {
    for (let env = 0; env < world.numEnvs; env++) {
      const acts = world.toAct.subarray(env * seats, (env + 1) * seats);
      if (!acts.includes(1)) world.begin(env, random);
    }
    const step = world.step(actionsOf(world, random), which);
    const ends = [step.rewards, step.terminated, step.truncated];
    return [ends.map((it) => [...it]), viewOf(world)];
  });
}

/** Compares what can be seen of two games; text is compared faster. */
function assertSameView(world: World, own: World): void {
  const [seen, wanted] = [viewOf(world), viewOf(own)];
  if (JSON.stringify(seen) !== JSON.stringify(wanted)) {
    assertEquals(seen, wanted);
  }
}

/** Plays the same moves in two games, a few of them illegal, and counts both. */
function assertSame(world: World, own: World, steps: number) {
  const random = new SeededRandom(7), { numEnvs } = own;
  let games = 0, illegalMoves = 0;
  for (let step = 0; step < steps; step++) {
    for (let env = 0; env < numEnvs; env++) {
      if (own.toAct[2 * env] + own.toAct[2 * env + 1] > 0) continue;
      for (const it of [world, own]) it.begin(env, new SeededRandom(games));
      games++;
    }
    assertSameView(world, own);
    const actions = actionsOf(own, random);
    const which = new Uint8Array(numEnvs);
    for (let env = 0; env < numEnvs; env++) {
      which[env] = Number(random.uniform() < 0.8);
      if (which[env] === 0 || random.uniform() > 0.05) continue;
      const seat = own.toAct[2 * env] === 1 ? 0 : 1;
      const masks = own.actionMasks!(seat), size = masks.length / numEnvs;
      const illegal = masks.subarray(env * size, (env + 1) * size).indexOf(0);
      if (illegal < 0) continue;
      actions[seat][env] = illegal;
      illegalMoves++;
    }
    assertEquals(world.step(actions, which), own.step(actions, which));
    assertSameView(world, own);
  }
  return { games, illegalMoves };
}

test("connect_four_v3 gives step for step what ConnectFour-v0 does", () => {
  const numEnvs = 16, own = new ConnectFour({ numEnvs });
  using(open("connect_four_v3", { numEnvs }), (world) => {
    assertEquals(world.seats.map((it) => it.name), ["player_0", "player_1"]);
    const { games, illegalMoves } = assertSame(world, own, 600);
    assert(games > 250 && illegalMoves > 10, `${games}, ${illegalMoves}`);
  });
});

test("tictactoe_v3 gives step for step what TicTacToe-v0 does", () => {
  const numEnvs = 16, own = new TicTacToe({ numEnvs });
  using(open("classic/tictactoe_v3", { numEnvs }), (world) => {
    const { games, illegalMoves } = assertSame(world, own, 300);
    assert(games > 350 && illegalMoves > 50, `${games}, ${illegalMoves}`);
  });
});

test("games keep the promises of worlds: by turns, at once, with agents that die", () => {
  for (const id of ["connect_four_v3", "rps_v2"]) {
    using(open(id, { numEnvs: 3 }), (it) => checkWorld(it, { steps: 60 }));
  }
  const own: [string, object][] = [
    ...[{}, { masks: false }, { silent: true }]
      .map((it): [string, object] => ["Fading", it]),
    ["Countdown", {}],
  ];
  for (const [name, kwargs] of own) {
    for (const maxEpisodeSteps of [4, Infinity]) {
      const options = { numEnvs: 3, maxEpisodeSteps, kwargs: { ...kwargs } };
      using(
        small(name, options),
        (it) => checkWorld(it, { steps: 60, render: false }),
      );
    }
  }
});

test("agents at once: who is out acts no more, and its end and reward come once", () => {
  using(small("Fading"), (world) => {
    const record = play(world, new SeededRandom(0), 100) as [
      number[][],
      [number[]],
    ][];
    const ends = [0, 0];
    for (const [[rewards, terminated, truncated], [toAct]] of record) {
      assertEquals(rewards, terminated.map((it) => 2 * it));
      terminated.forEach((it, seat) => {
        if (it + truncated[seat] > 0) assertEquals(toAct[seat], 0);
      });
      ends[0] += terminated.includes(1) ? 1 : 0;
      ends[1] += truncated[2];
    }
    assert(ends[0] > 20 && ends[1] > 2, `${ends}`);
  });
});

test("agents by turns: rewards come at once, to all, and the dead are passed over", () => {
  using(small("Countdown"), (world) => {
    const twos = world.seats.map(() => Int32Array.of(2));
    const which = Uint8Array.of(1), random = new SeededRandom(2);
    for (let game = 0; game < 20; game++) {
      world.begin(0, random);
      let out = -1;
      for (let step = 0; world.toAct.includes(1); step++) {
        const mover = world.toAct.indexOf(1);
        assert(mover !== out && world.toAct.lastIndexOf(1) === mover);
        const { rewards, terminated } = world.step(twos, which);
        const sum = rewards.reduce((a, b) => a + b);
        const isLast = !world.toAct.includes(1);
        if (rewards[mover] < 0) {
          assertEquals([sum, terminated[mover]], isLast ? [3, 1] : [-1, 1]);
          out = mover;
        } else assertEquals([sum, terminated.includes(1)], [0, false]);
      }
    }
  });
});

test("roles are those of the spaces, teams those of the names", () => {
  using(small("Fading"), ({ seats, roles, spec }) => {
    assertEquals(seats, [
      { name: "early_0", role: "early", team: "early" },
      { name: "early_1", role: "early", team: "early" },
      { name: "late", role: "late", team: "late" },
    ]);
    assertEquals(roles.early.actionSpace, { type: "discrete", n: 3 });
    assertEquals(roles.late.observationSpace.type, "dict");
    assertEquals(spec.id, "pz:small_games:Fading");
  });
  using(small("Countdown"), ({ seats, roles }) => {
    assertEquals(seats.map((it) => it.team), ["a", "a", "b"]);
    assertEquals(Object.keys(roles), ["player"]);
    assertEquals(roles.player.actionSpace, {
      type: "discrete",
      n: 2,
      start: 1,
    });
  });
});

test("saved games go on in another process", () => {
  const games = [["connect_four_v3", 40], ["small_games:Countdown", 30]];
  for (const [id, steps] of games as [string, number][]) {
    const options = { numEnvs: 3, modules: [SMALL] };
    const [state, next] = using(open(id, options), (world) => {
      play(world, new SeededRandom(1), steps);
      const state = structuredClone(world.save());
      return [state, play(world, new SeededRandom(5), 20)];
    });
    using(open(id, options), (world) => {
      world.load(state);
      assertEquals(play(world, new SeededRandom(5), 20), next);
    });
    using(open(id, { ...options, numEnvs: 2 }), (world) => {
      assertThrows(() => world.load(state), TypeError, "toAct");
    });
  }
});

test("a game that cannot be played again is truncated, those beside it are not", () => {
  using(small("Unseeded", { numEnvs: 2 }), (world) => {
    const random = new SeededRandom(0);
    const begin = () => [0, 1].forEach((env) => world.begin(env, random));
    const isRunning = () => world.toAct.every((it) => it === 1);
    begin();
    // Of a game in which nobody was out yet, and which nobody can draw again.
    do {
      begin();
      for (let step = 0; step < 3 && isRunning(); step++) {
        world.step(actionsOf(world, random), Uint8Array.of(1, 1));
      }
    } while (!isRunning());
    const state = world.save(), view = viewOf(world);
    world.load(state);
    assertEquals(viewOf(world), view);
    // What waits is still to be truncated, in its own time.
    for (const [which, ended] of [[[1, 0], [1, 0]], [[0, 1], [0, 1]]]) {
      const step = world.step(
        actionsOf(world, random),
        Uint8Array.from(which),
      );
      const expected = ended.flatMap((it) => [it, it, it]);
      assertEquals([...step.truncated], expected);
      assert(!step.terminated.includes(1) && !step.rewards.some(Boolean));
    }
    assert(!world.toAct.includes(1));
    assert(!world.actionMasks!(0).includes(1));
    begin();
    assert(isRunning());
  });
});

test("a picture is drawn in the size that is asked for", () => {
  using(open("connect_four_v3", { numEnvs: 2 }), (world) => {
    world.begin(1, new SeededRandom(0));
    const before = world.render(1, { width: 99, height: 86 });
    assertEquals(before.data.length, 3 * 99 * 86);
    world.step(
      world.seats.map(() => Int32Array.of(3, 3)),
      Uint8Array.of(0, 1),
    );
    assertThrows(() => world.render(2), RangeError, "Cannot find world 2");
    const at = { width: 99, height: 86 };
    assert(`${world.render(1, at).data}` !== `${before.data}`);
    assertEquals(world.render(0, at).data, before.data);
  });
});

test("a game is made by name, with its limit and the options of self-play", () => {
  const registry: EnvRegistry = new Map();
  const options = { python: PYTHON, modules: [SMALL], registry };
  const id = registerPettingZoo("small_games:Countdown", options);
  const kwargs = { opponent: "random" };
  const env = makeVec(id, { registry, numEnvs: 4, kwargs, maxEpisodeSteps: 5 });
  env.reset({ seed: 0 });
  let cut = 0;
  for (let i = 0; i < 30; i++) {
    const { truncated } = env.step(new Int32Array(4).fill(1));
    cut += truncated.reduce((a, b) => a + b);
  }
  assert(cut > 0);
  assertEquals(env.spec?.maxEpisodeSteps, 5);
  env.close();
  const vec = makeVec(registerPettingZoo("connect_four_v3", options), {
    ...{ registry, numEnvs: 2, recordEpisodes: false },
  });
  assertEquals(gameOf(vec)?.world.seats.length, 2);
  vec.close();
  const one = make("pz:connect_four_v3", { registry });
  assertEquals((one.reset({ seed: 0 }) as Int32Array).length, 84);
  one.close!();
  const fading = registerPettingZoo("small_games:Fading", options);
  const world = makeWorld(fading, {
    ...{ registry, numEnvs: 1, kwargs: { masks: false } },
  });
  assertEquals(world.actionMasks, undefined);
  world.close();
});

test("unknown names are one line with the nearest, missing packages with the command", () => {
  const FINE = { modules: [SMALL] };
  assertRefused({
    "RangeError: Unknown environment 'connect_fuor_v3': did you mean 'connect_four_v3'?":
      () => open("connect_fuor_v3"),
    "RangeError: Unknown environment 'classic/tictactoe_v2': did you mean 'classic/tictactoe_v3'?":
      () => open("classic/tictactoe_v2"),
    "RangeError: Unknown environment 'small_games:Fadin': the module has none of that name; did you mean 'Fading'?":
      () => open("small_games:Fadin", FINE),
    "TypeError: Cannot import the module 'smal_games' for 'smal_games:Fading': there is no 'smal_games'":
      () => open("smal_games:Fading"),
    "TypeError: Cannot make 'small_games:nothing': it has neither env nor parallel_env":
      () => open("small_games:nothing", FINE),
    "TypeError: Cannot make 'collections:OrderedDict': it is no environment of PettingZoo":
      () => open("collections:OrderedDict"),
    "Error: Cannot make 'small_games:Odd': TypeError: ": () =>
      open("small_games:Odd", FINE),
    "RangeError: Cannot make 0 copies of rps_v2": () =>
      open("rps_v2", { numEnvs: 0 }),
    "RangeError: Cannot limit episodes to 0.5 steps": () =>
      open("rps_v2", { maxEpisodeSteps: 0.5 }),
  });
});

test("PettingZoo that is missing, and what a game of it needs, are told with the command", () => {
  const folder = Deno.makeTempDirSync(), python = `${folder}/python`;
  Deno.writeTextFileSync(
    python,
    `#!/bin/sh\nPYTHONPATH="${folder}" exec "${PYTHON}" "$@"\n`,
  );
  Deno.chmodSync(python, 0o755);
  const absent = (name: string) =>
    Deno.writeTextFileSync(
      `${folder}/${name}.py`,
      `raise ModuleNotFoundError("No module named '${name}'")\n`,
    );
  const refusal = () =>
    assertThrows(() => open("connect_four_v3", { python }), TypeError).message;
  absent("pygame");
  const part = refusal();
  assert(part.startsWith("Cannot import 'connect_four_v3' in "), part);
  assert(part.includes(`-m pip install "pettingzoo[classic]"'`), part);
  absent("pettingzoo");
  const whole = refusal();
  assert(whole.startsWith("Cannot import PettingZoo in "), whole);
  assert(whole.includes(`-m pip install "pettingzoo[classic]"', or `), whole);
  assert(!`${part}${whole}`.includes("\n"));
  Deno.removeSync(folder, { recursive: true });
});

test("what a game tells that cannot be used is one line", () => {
  const stepping = (what: string) => () =>
    using(small("Odd", { numEnvs: 2, kwargs: { what } }), (world) => {
      [0, 1].forEach((env) => world.begin(env, new SeededRandom(env)));
      const actions = world.seats.map(() => Int32Array.of(0, 0));
      for (let i = 0; i < 9; i++) world.step(actions, Uint8Array.of(0, 1));
    });
  const where =
    "TypeError: Cannot use the data of pz:small_games:Odd, copy 1: ";
  assertRefused({
    [`${where}the reward of 'early_1' is nan: expected a finite number`]:
      stepping("reward"),
    [`${where}the action mask at step 1 of its episode allows none of the 3 choices: expected at least one`]:
      stepping("mask"),
    [`${where}an observation has the shape (3,): expected (1,)`]: stepping(
      "seen",
    ),
    "Error: Cannot step small_games:Odd: Python raised ValueError: no luck":
      stepping("raise"),
  });
});

test("actions that do not fit are refused before anything moves", () => {
  using(open("connect_four_v3", { numEnvs: 2 }), (world) => {
    const both = Uint8Array.of(1, 1), random = new SeededRandom(0);
    const moves = (...columns: number[]) =>
      world.seats.map(() => Int32Array.from(columns));
    world.begin(0, random);
    assertRefused({
      "Error: Cannot step world 1 of connect_four_v3 as its game is over: call begin first":
        () => world.step(moves(0, 0), both),
      "RangeError: Cannot take action 7: expected a whole number from 0 to 6":
        () => world.step(moves(7, 0), Uint8Array.of(1, 0)),
      "RangeError: Cannot step 2 copies with 1 numbers of actions: expected 2":
        () => world.step(moves(0, 0), Uint8Array.of(1)),
      "RangeError: Cannot step 2 copies with no numbers of actions": () =>
        world.step([Int32Array.of(0, 0)], both),
      "RangeError: Cannot find world 2 of connect_four_v3: expected a whole number from 0 to 1":
        () => world.begin(2, random),
      "RangeError: Cannot find seat -1 of connect_four_v3": () =>
        world.observe(-1),
    });
    assertEquals([...world.toAct], [1, 0, 0, 0]);
    world.step(moves(6, 9), Uint8Array.of(1, 0));
    assertEquals([...world.toAct], [0, 1, 0, 0]);
    world.close();
    assertRefused({
      "TypeError: Cannot use connect_four_v3, which was closed": () =>
        world.save(),
    });
  });
});
