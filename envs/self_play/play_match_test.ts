import {
  ConnectFour,
  minimax,
  playMatch,
  randomPlayer,
  scriptedPlayer,
  Soccer,
  TicTacToe,
} from "@bellman/envs/games";
import { assert, assertEquals, assertThrows } from "@std/assert";

Deno.test("the sum of all games is their number, and both take both seats", () => {
  const world = new TicTacToe({ numEnvs: 7 });
  const seats: number[] = [];
  const noted: typeof randomPlayer = (world, turn) => {
    turn.which!.forEach((it) => it === 1 && seats.push(turn.seat));
    randomPlayer(world, turn);
  };
  const { won, drawn, lost } = playMatch(world, [noted, randomPlayer], {
    games: 30,
    seed: 1,
  });
  assertEquals(won + drawn + lost, 30);
  const [first, second] = [0, 1].map((seat) =>
    seats.filter((it) => it === seat).length
  );
  assert(first > 40 && second > 30, `${first} ${second}`);
});

Deno.test("exchanged players have exchanged results where nobody draws lots", () => {
  const world = new ConnectFour({ numEnvs: 8 });
  const first: typeof randomPlayer = (world, { seat, actions, which }) => {
    const masks = world.actionMasks!(seat);
    which!.forEach((it, env) => {
      if (it === 0) return;
      (actions as Int32Array)[env] = masks.indexOf(1, 7 * env) - 7 * env;
    });
  };
  const last: typeof randomPlayer = (world, { seat, actions, which }) => {
    const masks = world.actionMasks!(seat);
    which!.forEach((it, env) => {
      if (it === 0) return;
      (actions as Int32Array)[env] = masks.lastIndexOf(1, 7 * env + 6) -
        7 * env;
    });
  };
  const a = playMatch(world, [first, last], { games: 16 });
  const b = playMatch(world, [last, first], { games: 16 });
  assertEquals([a.won, a.drawn, a.lost], [b.lost, b.drawn, b.won]);
});

Deno.test("a match is the same with the same seed, and another with another", () => {
  const world = new ConnectFour({ numEnvs: 8 });
  const play = (seed: number) =>
    playMatch(world, [minimax({ depth: 1 }), randomPlayer], {
      games: 64,
      seed,
    });
  assertEquals(play(1), play(1));
  assert(play(1).won > 55);
});

Deno.test("openings leave perfect players games that they cannot save", () => {
  const world = new TicTacToe({ numEnvs: 50 }), perfect = scriptedPlayer(world);
  const even = playMatch(world, [perfect, perfect], { games: 100 });
  assertEquals(even, { won: 0, drawn: 100, lost: 0 });
  const odd = playMatch(world, [perfect, perfect], { games: 100, openings: 4 });
  assert(odd.won > 5 && odd.lost > 5, JSON.stringify(odd));
});

Deno.test("teams play together", () => {
  const world = new Soccer({ numEnvs: 10 });
  const { won, lost } = playMatch(
    world,
    [scriptedPlayer(world), randomPlayer],
    {
      games: 40,
    },
  );
  assert(won > 35 && lost < 3, `${won} ${lost}`);
});

Deno.test("a match needs two teams and games", () => {
  const world = new TicTacToe();
  const players = [randomPlayer, randomPlayer] as const;
  assertThrows(
    () => playMatch(world, players, { games: 0 }),
    RangeError,
    "games 0",
  );
  const alone = Object.create(world, {
    seats: { value: [{ name: "a", team: "us" }, { name: "b", team: "us" }] },
  });
  assertThrows(
    () => playMatch(alone, players, { games: 1 }),
    TypeError,
    "a world of one team, us",
  );
});
