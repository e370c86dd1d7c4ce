import type { RandomSource, World } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { SeededRandom } from "../random.ts";
import { box, discrete } from "../spaces/constructors.ts";
import {
  ConnectFour,
  PaddleBall,
  playerNamed,
  playMatch,
  randomPlayer,
  scriptedPlayer,
  Soccer,
  TicTacToe,
} from "../games/mod.ts";

Deno.test("random players take each allowed action as often", () => {
  const world = new ConnectFour(), random = new SeededRandom(0);
  world.begin(0, random);
  const column = [Int32Array.of(3), Int32Array.of(3)];
  for (let i = 0; i < 6; i++) world.step(column, Uint8Array.of(1));
  const counts = new Array(7).fill(0), actions = new Int32Array(1);
  for (let i = 0; i < 6000; i++) {
    randomPlayer(world, { seat: 0, actions, random });
    counts[actions[0]]++;
  }
  assertEquals(counts[3], 0);
  for (const count of counts.toSpliced(3, 1)) {
    assert(count > 880 && count < 1120);
  }
});

Deno.test("players fill only the rows in which they play", () => {
  const made = [
    new ConnectFour({ numEnvs: 4 }),
    new TicTacToe({ numEnvs: 4 }),
    new PaddleBall({ numEnvs: 4 }),
    new Soccer({ numEnvs: 4 }),
  ];
  for (const world of made) {
    const random = new SeededRandom(0);
    // World 3 has not begun.
    for (let env = 0; env < 3; env++) world.begin(env, random);
    for (const play of [randomPlayer, scriptedPlayer(world)]) {
      const actions = new Int32Array(4).fill(-7);
      const which = Uint8Array.of(1, 0, 1, 1);
      play(world, { seat: 0, actions, random, which });
      assert(actions[0] >= 0 && actions[2] >= 0);
      assertEquals([actions[1], actions[3]], [-7, -7]);
      play(world, { seat: 0, actions, random });
      assert(actions[1] >= 0);
      assertEquals(actions[3], -7);
    }
  }
  const board = made[0], actions = new Int32Array(4).fill(-7);
  for (const play of [randomPlayer, scriptedPlayer(board)]) {
    play(board, { seat: 1, actions, random: new SeededRandom(0) });
    assertEquals([...actions], [-7, -7, -7, -7]);
  }
});

/** Worlds of two roles, of which nothing but what players read is there. */
function worldOf(scripted?: World["begin"]): World {
  const space = box({ low: -2, high: 2, shape: [2] });
  return {
    numEnvs: 2,
    seats: [{ name: "a", role: "mover" }, { name: "b" }],
    roles: {
      mover: { observationSpace: space, actionSpace: space },
      player: {
        observationSpace: space,
        actionSpace: discrete(3, { start: 5 }),
      },
    },
    toAct: new Uint8Array(4).fill(1),
    ...(scripted && { scripted }),
  } as unknown as World;
}

Deno.test("random players draw from the space of the seat's role", () => {
  const world = worldOf(), random: RandomSource = new SeededRandom(0);
  const boxes = new Float32Array(4), whole = new Int32Array(2);
  randomPlayer(world, { seat: 0, actions: boxes, random });
  assert(boxes.every((it) => it !== 0 && Math.abs(it) <= 2));
  randomPlayer(world, { seat: 1, actions: whole, random });
  assert(whole.every((it) => it >= 5 && it <= 7));
});

Deno.test("any world with the method is scripted, others are refused", () => {
  let turns = 0;
  const world = worldOf(() => turns++), random = new SeededRandom(0);
  scriptedPlayer(world)(world, { seat: 0, actions: new Int32Array(2), random });
  assertEquals(turns, 1);
  assertThrows(
    () => scriptedPlayer({ ...worldOf(), spec: { id: "Mine-v0" } }),
    TypeError,
    "Cannot make a scripted player of Mine-v0: expected worlds with a method 'scripted'",
  );
});

Deno.test("players by name search as deep as they say", () => {
  const world = new TicTacToe({ numEnvs: 10 });
  const lost = (name: string) =>
    playMatch(world, [randomPlayer, playerNamed(world, name)], { games: 200 })
      .lost;
  const [one, three] = ["minimax:1", "minimax:3"].map(lost);
  assert(lost("random") < one && one < three, `${one}, ${three}`);
  for (const plies of ["0", "9", "1.5", "-1", "", "x", "4 "]) {
    assertThrows(
      () => playerNamed(world, `minimax:${plies}`),
      RangeError,
      `Cannot play against minimax:${plies}: expected 1 to 8 plies, as in minimax:4`,
    );
  }
  assertThrows(() => playerNamed(world, "minimax"), RangeError, "1 to 8 plies");
  assertThrows(
    () => playerNamed(world, "scriptd"),
    RangeError,
    "Unknown opponent 'scriptd': did you mean 'scripted'?",
  );
  assertThrows(
    () => playerNamed(new Soccer(), "minimax:2"),
    TypeError,
    "Cannot search the moves of Soccer: expected worlds with a method 'search', such as ConnectFour",
  );
});
