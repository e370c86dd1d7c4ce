import type { BoxArray, StateTree } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
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

/** Paths of all numbers and lists of a state that can be spoiled. */
const spoiled = fc.tuple(
  fc.nat(),
  fc.nat(),
  fc.constantFrom(255, -99, NaN, Infinity, 2.5e9),
);

Deno.test("a saved state that is spoiled is refused, and nothing changes", () => {
  for (const make of GAMES) {
    const world = make(2), other = make(2), random = new SeededRandom(1);
    play(world, random, 5);
    play(other, random, 12);
    const before = exactText(other.save());
    fc.assert(
      fc.property(spoiled, ([entry, at, value]) => {
        const state = world.save() as Record<string, BoxArray>;
        const names = Object.keys(state), name = names[entry % names.length];
        const array = state[name], i = at % array.length, kept = array[i];
        array[i] = value;
        // Numbers that an array cannot hold may be fine once it holds them.
        fc.pre(array[i] !== kept && !(array[i] >= 0 && array[i] <= 40));
        const error = assertThrows(() => other.load(state), RangeError);
        assert(!error.message.includes("\n"));
        assertEquals(exactText(other.save()), before);
      }),
      { numRuns: 200 },
    );
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

Deno.test("seats that cannot act by the rest of a state are refused", () => {
  const world = new TicTacToe();
  world.begin(0, new SeededRandom(0));
  const state = world.save() as Record<string, Uint8Array>;
  const load = (part: object) => world.load({ ...state, ...part });
  assertThrows(
    () => load({ toAct: Uint8Array.of(1, 1) }),
    RangeError,
    "Cannot restore TicTacToe from a saved state with toAct 1,1 in world 0: its other numbers allow 1,0",
  );
  assertThrows(() => load({ toAct: Uint8Array.of(0, 1) }), RangeError);
  assertThrows(() => load({ steps: Int32Array.of(2) }), RangeError);
  const boards = Uint8Array.of(2, 2, 0, 0, 0, 0, 0, 0, 0);
  assertThrows(() => load({ steps: Int32Array.of(2), boards }), RangeError);
  // A game that is over may have any board.
  load({ toAct: Uint8Array.of(0, 0), boards });
  const ball = new PaddleBall({ points: 2 });
  ball.begin(0, new SeededRandom(0));
  const points = ball.save() as Record<string, Int32Array>;
  assertThrows(
    () => ball.load({ ...points, scores: Int32Array.of(0, 2) }),
    RangeError,
    "toAct 1,1",
  );
  const soccer = new Soccer({ tackles: true });
  soccer.begin(0, new SeededRandom(0));
  const players = soccer.save() as Record<string, Uint8Array>;
  assertThrows(
    () => soccer.load({ ...players, out: Uint8Array.of(0, 1, 0, 0) }),
    RangeError,
    "toAct 1,1,1,1 in world 0: its other numbers allow 1,0,1,1",
  );
  assertThrows(
    () => new Soccer().load({ ...players, out: Uint8Array.of(0, 1, 0, 0) }),
    RangeError,
    "out[1] 1: expected a number from 0 to 0",
  );
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
