import { actionChoices } from "@bellman/envs";
import type { MatchResult, Player } from "@bellman/envs/games";
import type { DiscreteSpace, RandomSource, World } from "@bellman/types";
import { UsageError } from "../program/errors.ts";

/** World that can be drawn as text, such as a board. */
export interface TextWorld extends World {
  /** Draws a world in a few lines of text. */
  text(env: number): string;
}

/** Options of {@linkcode playHuman}. */
export interface HumanOptions {
  /** Number of games; the person takes the seats in turn. */
  games: number;
  /** Random stream of games and opponent. */
  random: RandomSource;
  /** Asks the person for a line; undefined where there is none any more. */
  ask(question: string): Promise<string | undefined>;
  /** Shows text to the person. */
  say(text: string): void;
}

/**
 * Returns a world that a person can play in a terminal.
 *
 * @param world One world.
 * @throws {UsageError} If it cannot be drawn as text, or actions are not discrete.
 * @example
 * ```ts
 * import { TicTacToe } from "@bellman/envs/games";
 * import { textWorld } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(textWorld(new TicTacToe()).text(0), "0 1 2\n3 4 5\n6 7 8\n");
 * ```
 */
export function textWorld(world: World): TextWorld {
  const { roles, spec } = world;
  const isDiscrete = Object.values(roles)
    .every(({ actionSpace }) => actionSpace.type === "discrete");
  if (isDiscrete && "text" in world) return world as TextWorld;
  throw new UsageError(
    `Cannot play ${
      spec?.id ?? "this game"
    } in a terminal: expected a game by turns that draws itself as text, such as ConnectFour-v0`,
  );
}

/**
 * Lets a person play games against a player, with lines of text.
 *
 * @param world One world.
 * @param opponent Player of the other seats.
 * @param options Games, and how the person is asked.
 * @returns Games that the person won, drew and lost; fewer than asked for where the
 * person left.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { randomPlayer, TicTacToe } from "@bellman/envs/games";
 * import { playHuman, textWorld } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const result = await playHuman(textWorld(new TicTacToe()), randomPlayer, {
 *   games: 1,
 *   random: new SeededRandom(0),
 *   ask: () => Promise.resolve(undefined), // a person who leaves at once
 *   say: () => {},
 * });
 * assertEquals(result, { won: 0, drawn: 0, lost: 0 });
 * ```
 */
export async function playHuman(
  world: TextWorld,
  opponent: Player,
  { games, random, ask, say }: HumanOptions,
): Promise<MatchResult> {
  const result = { won: 0, drawn: 0, lost: 0 };
  for (let game = 0; game < games; game++) {
    const own = game % world.seats.length;
    say(`\nGame ${game + 1} of ${games}: you are ${world.seats[own].name}\n`);
    const lead = await playGame(world, opponent, { own, random, ask, say });
    if (lead === undefined) break;
    const outcome = lead > 0 ? "won" : lead < 0 ? "lost" : "drawn";
    result[outcome]++;
    say(`\n${world.text(0)}You ${outcome === "drawn" ? "drew" : outcome}\n`);
  }
  return result;
}

/** Plays one game; returns how much more the person got than the others. */
async function playGame(
  world: TextWorld,
  opponent: Player,
  { own, random, ask, say }: Omit<HumanOptions, "games"> & { own: number },
): Promise<number | undefined> {
  world.begin(0, random);
  const which = Uint8Array.of(1);
  const actions = world.seats.map(() => new Int32Array(1));
  let lead = 0;
  while (world.toAct.includes(1)) {
    for (const seat of world.seats.keys()) {
      if (world.toAct[seat] === 0) continue;
      if (seat === own) {
        say(`\n${world.text(0)}`);
        const move = await moveOf(world, own, { ask, say });
        if (move === undefined) return undefined;
        actions[seat][0] = move;
      } else opponent(world, { seat, actions: actions[seat], random, which });
    }
    const { rewards } = world.step(actions, which);
    rewards.forEach((it, seat) => lead += seat === own ? it : -it);
  }
  return lead;
}

/** Asks for a move until it is allowed. */
async function moveOf(
  world: TextWorld,
  seat: number,
  { ask, say }: Pick<HumanOptions, "ask" | "say">,
): Promise<number | undefined> {
  const { actionSpace } = world.roles[world.seats[seat].role ?? "player"];
  const { start = 0 } = actionSpace as DiscreteSpace;
  const [count] = actionChoices(actionSpace)!;
  const mask = world.actionMasks?.(seat);
  const allowed = Array.from({ length: count }, (_, i) => i)
    .filter((i) => mask === undefined || mask[i] === 1)
    .map((i) => i + start);
  for (;;) {
    const line = await ask(`Your move (${allowed.join(", ")}): `);
    if (line === undefined) return undefined;
    const move = Number(line);
    if (line.trim() !== "" && allowed.includes(move)) return move;
    say(
      `Cannot play '${line.trim()}': expected one of ${allowed.join(", ")}\n`,
    );
  }
}
