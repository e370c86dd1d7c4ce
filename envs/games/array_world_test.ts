import type { StateTree } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { exactText } from "../check_env.ts";
import { SeededRandom } from "../random.ts";
import {
  type ArrayWorld,
  ConnectFour,
  PaddleBall,
  randomPlayer,
  Soccer,
  TicTacToe,
} from "./mod.ts";

const GAMES = [
  (numEnvs: number) => new ConnectFour({ numEnvs }),
  (numEnvs: number) => new TicTacToe({ numEnvs }),
  (numEnvs: number) => new PaddleBall({ numEnvs, maxEpisodeSteps: 40 }),
  (numEnvs: number) => new Soccer({ numEnvs, maxEpisodeSteps: 40 }),
  (numEnvs: number) =>
    new Soccer({ numEnvs, tackles: true, maxEpisodeSteps: 40 }),
];

/** Plays random steps of a world, begins games that are over, and returns a record. */
function play(world: ArrayWorld, random: SeededRandom, steps: number): string {
  const { numEnvs, seats } = world, record: unknown[] = [];
  const actions = seats.map(() => new Int32Array(numEnvs));
  for (let i = 0; i < steps; i++) {
    for (let env = 0; env < numEnvs; env++) {
      const at = env * seats.length;
      const acts = world.toAct.subarray(at, at + seats.length);
      if (!acts.includes(1)) world.begin(env, random);
    }
    actions.forEach((it, seat) =>
      randomPlayer(world, { seat, actions: it, random })
    );
    const step = world.step(actions, new Uint8Array(numEnvs).fill(1));
    record.push({ ...step }, seats.map((_, seat) => world.observe(seat)));
  }
  return exactText(record.map((it) => exactText(it)));
}

Deno.test("a saved state goes on in new worlds", () => {
  for (const make of GAMES) {
    const [world, other] = [make(2), make(2)], random = new SeededRandom(3);
    play(world, random, 17);
    const state = world.save(), stream = random.save();
    const expected = play(world, random, 60);
    other.load(state);
    random.load(stream);
    assertEquals(play(other, random, 60), expected);
  }
});

Deno.test("a saved state of another form is refused, and nothing changes", () => {
  for (const make of GAMES) {
    const world = make(2), other = make(2), random = new SeededRandom(1);
    play(world, random, 5);
    play(other, random, 12);
    const before = exactText(other.save());
    const wrong: StateTree[] = [null, [], "text", {}, { toAct: null }];
    for (const name of Object.keys(world.save() as object)) {
      const state = world.save() as Record<string, StateTree>;
      wrong.push({ ...state, [name]: null });
      wrong.push({ ...state, [name]: [...state[name] as Uint8Array] });
      const { [name]: _, ...rest } = state;
      wrong.push(rest);
    }
    for (const state of wrong) {
      assertThrows(() => other.load(state));
      assertEquals(exactText(other.save()), before);
    }
    assertThrows(
      () => make(3).load(world.save()),
      RangeError,
      "Cannot restore 3 copies from a snapshot of 2",
    );
  }
});

Deno.test("what cannot be stepped is refused in one line, before any world steps", () => {
  const world = new ConnectFour({ numEnvs: 2 }), random = new SeededRandom(0);
  const both = Uint8Array.of(1, 1), zeros = new Int32Array(2);
  assertThrows(
    () => world.step([zeros, zeros], both),
    Error,
    "Cannot step world 0 of ConnectFour as its game is over: call begin first",
  );
  world.begin(0, random);
  world.begin(1, random);
  const before = exactText(world.save());
  for (const [action, shown] of [[7, "7"], [-1, "-1"]] as const) {
    assertThrows(
      () => world.step([Int32Array.of(0, action), zeros], both),
      RangeError,
      `Cannot step ConnectFour with action ${shown} of seat first in world 1: expected a whole number from 0 to 6`,
    );
  }
  const halves = Float32Array.of(0, 0.5) as unknown as Int32Array;
  assertThrows(() => world.step([halves, zeros], both), RangeError, "0.5");
  assertThrows(
    () => world.step([zeros], both),
    RangeError,
    "Cannot step ConnectFour with no actions of seat second: expected 2",
  );
  assertThrows(
    () => world.step([zeros, zeros], Uint8Array.of(1)),
    RangeError,
    "Cannot step ConnectFour with 1 entries of which: expected 2",
  );
  assertEquals(exactText(world.save()), before);
  // Actions of a seat that is not to act, and of worlds that wait, may be anything.
  world.step(
    [Int32Array.of(0, 99), Int32Array.of(99, 99)],
    Uint8Array.of(1, 0),
  );
  assertEquals([...world.toAct], [0, 1, 1, 0]);
});

Deno.test("a world or a seat that is not there is refused", () => {
  const world = new ConnectFour({ numEnvs: 2 });
  for (const env of [2, -1, 0.5, NaN]) {
    const message =
      `Cannot find world ${env} of ConnectFour: expected a whole number from 0 to 1`;
    assertThrows(
      () => world.begin(env, new SeededRandom(0)),
      RangeError,
      message,
    );
    for (
      const use of [
        () => world.render(env),
        () => world.text(env),
        () => world.actionValues(env),
        () => new PaddleBall().render(env || 1),
        () => new Soccer().render(env || 1),
      ]
    ) assertThrows(use, RangeError, "Cannot find world");
  }
  assertThrows(() => world.observe(2), RangeError, "Cannot find seat 2");
  assertThrows(() => world.actionMasks(-1), RangeError, "Cannot find seat -1");
});

Deno.test("options are checked", () => {
  for (const Game of [ConnectFour, TicTacToe, PaddleBall, Soccer]) {
    assertThrows(() => new Game({ numEnvs: 0 }), RangeError, "numEnvs 0");
    assertThrows(() => new Game({ numEnv: 1 } as object), TypeError, "numEnvs");
    assertEquals(new Game().numEnvs, 1);
    const spec = { id: "Mine-v0" };
    assertEquals(new Game({ spec }).spec, spec);
  }
  assertThrows(() => new PaddleBall({ points: 0 }), RangeError, "points 0");
  assertThrows(
    () => new Soccer({ tackles: 1 as unknown as boolean }),
    TypeError,
    "true or false",
  );
  assertThrows(
    () => new Soccer({ maxEpisodeSteps: 0.5 }),
    RangeError,
    "maxEpisodeSteps 0.5",
  );
});

Deno.test("a game is truncated after its last step, for all who act", () => {
  const world = new Soccer({ maxEpisodeSteps: 2 });
  world.begin(0, new SeededRandom(0));
  const stay = world.seats.map(() => new Int32Array(1));
  const which = Uint8Array.of(1);
  assertEquals([...world.step(stay, which).truncated], [0, 0, 0, 0]);
  const { truncated, terminated } = world.step(stay, which);
  assertEquals([...truncated], [1, 1, 1, 1]);
  assertEquals([...terminated], [0, 0, 0, 0]);
  assertEquals([...world.toAct], [0, 0, 0, 0]);
  world.begin(0, new SeededRandom(0));
  assertEquals([...world.step(stay, which).truncated], [0, 0, 0, 0]);
});

Deno.test("all are over before the first game", () => {
  for (const make of GAMES) assert(!make(2).toAct.includes(1));
});
