import { make, SeededRandom } from "@bellman/envs";
import { PaddleBall, scriptedPlayer, TicTacToe } from "@bellman/envs/games";
import { playByHand, playHuman, textWorld } from "@bellman/runs/play";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";

/** A person who gives these lines. */
function person(lines: string[]) {
  let said = "";
  return {
    ask: (question: string) => {
      said += question;
      return Promise.resolve(lines.shift());
    },
    say: (text: string) => {
      said += text;
    },
    get said() {
      return said;
    },
  };
}

Deno.test("a person plays games in both seats, and sees the board", async () => {
  const world = textWorld(new TicTacToe()), random = new SeededRandom(0);
  // Whatever is free, in rising order: mistakes are asked for again.
  const lines = Array.from({ length: 200 }, (_, i) => `${i % 9}`);
  const it = person(["x", "9", "", ...lines]);
  const result = await playHuman(world, scriptedPlayer(world), {
    ...{ games: 4, random },
    ask: it.ask,
    say: it.say,
  });
  assertEquals(result.won, 0);
  assertEquals(result.won + result.drawn + result.lost, 4);
  assertStringIncludes(it.said, "Game 2 of 4: you are second");
  assertStringIncludes(it.said, "0 1 2\n3 4 5\n6 7 8\n");
  assertStringIncludes(
    it.said,
    "Cannot play '9': expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8",
  );
  assertStringIncludes(it.said, "Cannot play '': expected");
});

Deno.test("a person who leaves ends the games", async () => {
  const world = textWorld(new TicTacToe()), random = new SeededRandom(0);
  const it = person(["4"]);
  const result = await playHuman(world, scriptedPlayer(world), {
    ...{ games: 4, random },
    ask: it.ask,
    say: it.say,
  });
  assertEquals(result, { won: 0, drawn: 0, lost: 0 });
  assert(it.said.includes(" X "));
});

Deno.test("games that are no text are refused in a line", () => {
  assertThrows(
    () => textWorld(new PaddleBall()),
    Error,
    "Cannot play this game in a terminal",
  );
});

Deno.test("a person plays whole episodes by hand, with allowed actions alone", async () => {
  const env = make("TicTacToe-v0"), returns: number[] = [];
  const lines = Array.from({ length: 200 }, (_, i) => `${i % 9}`);
  const it = person(["", "x", ...lines]);
  const whole = await playByHand(env, {
    ...{ episodes: 3, seed: 0, ask: it.ask },
    show: () => {},
    onEpisode: (sum) => void returns.push(sum),
  });
  assertEquals([whole, returns.length], [3, 3]);
  assertStringIncludes(it.said, "Cannot play ''. Your action (0, 1, 2,");
  assertStringIncludes(it.said, "Cannot play 'x'. ");
  // Fields that are taken are refused.
  assert(/Cannot play '\d'\. /.test(it.said));
  env.close();
});

Deno.test("actions of several numbers cannot be given by hand", async () => {
  const env = make("Pendulum-v1");
  const two = Object.create(env, {
    actionSpace: { value: { ...env.actionSpace, shape: [2] } },
    spec: { value: { id: "Two-v0" } },
  });
  const it = person([]);
  await assertRejects(
    () =>
      playByHand(two, {
        ...{ episodes: 1, seed: 0, ask: it.ask },
        show: () => {},
      }),
    Error,
    "Cannot play Two-v0 by hand, whose actions are a box: expected discrete ones, or a box of one number",
  );
  env.close();
});
