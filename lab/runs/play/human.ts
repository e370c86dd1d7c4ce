import { actionChoices, boundAt } from "@bellman/envs";
import type { MatchResult, Player } from "@bellman/envs/games";
import type { DiscreteSpace, Env, RandomSource, World } from "@bellman/types";
import { UsageError } from "../program/errors.ts";
import type { PlayMoment } from "./caption.ts";

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

/** Options of {@linkcode playByHand}. */
export interface ByHandOptions extends Pick<HumanOptions, "ask"> {
  /** Number of episodes. */
  episodes: number;
  /** Seed of the episodes. */
  seed: number;
  /** Shows each state to the person, before an action is asked for. */
  show(moment: PlayMoment): Promise<void> | void;
  /** Called after each whole episode, with its return. */
  onEpisode?(sum: number): Promise<void> | void;
}

/**
 * Lets a person play an environment of one seat, an action for each line of text: the
 * number of a discrete action, or the only number of a box. An empty line repeats the
 * action before.
 *
 * @param env Environment; it is not closed.
 * @param options Episodes, and how the person is asked.
 * @returns Number of whole episodes; fewer than asked for where the person left.
 * @throws {UsageError} If the actions are others.
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { playByHand } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const lines = ["0", "2", "", "1"]; // 2 is no action: it is asked for again
 * const env = make("CartPole-v1");
 * let steps = 0;
 * const whole = await playByHand(env, {
 *   ...{ episodes: 1, seed: 0 },
 *   ask: () => Promise.resolve(lines.shift()), // a person who leaves then
 *   show: ({ step }) => void (steps = step),
 * });
 * assertEquals([whole, steps], [0, 3]);
 * env.close();
 * ```
 */
export async function playByHand(
  env: Env,
  { episodes, seed, ask, show, onEpisode }: ByHandOptions,
): Promise<number> {
  const read = actionReader(env);
  let last = "";
  for (let whole = 0; whole < episodes; whole++) {
    env.reset(whole === 0 ? { seed } : undefined);
    let moment: PlayMoment = { episode: whole + 1, step: 0, return: 0 };
    for (let isOver = false; !isOver;) {
      await show(moment);
      let [action, wanted] = read(""), problem = "";
      while (action === undefined) {
        const given = await ask(`${problem}Your action (${wanted}): `);
        if (given === undefined) return whole;
        const line = given.trim() || last;
        [action, wanted] = read(line);
        if (action !== undefined) last = line;
        problem = `Cannot play '${line}'. `;
      }
      const { reward, terminated, truncated } = env.step(action);
      const { episode, step, return: sum } = moment;
      moment = { episode, step: step + 1, return: sum + reward };
      isOver = terminated || truncated;
    }
    await show(moment);
    await onEpisode?.(moment.return);
  }
  return episodes;
}

/** Action of a line, if it is one, and what is expected. */
type ReadAction = (
  line: string,
) => [action: number | Float32Array | undefined, wanted: string];

/** Makes a reader of the actions of an environment. */
function actionReader(env: Env): ReadAction {
  const { actionSpace: space, spec } = env;
  const numberOf = (line: string) => line === "" ? NaN : Number(line);
  if (space.type === "discrete") {
    const { n, start = 0 } = space;
    return (line) => {
      const masks = env.actionMasks?.();
      const allowed = Array.from({ length: n }, (_, i) => i + start)
        .filter((_, i) => masks?.[i] !== 0);
      const action = allowed.find((it) => it === numberOf(line));
      return [action, allowed.join(", ")];
    };
  }
  const isOneNumber = space.type === "box" && space.dtype === "float32" &&
    space.shape.every((it) => it === 1);
  if (!isOneNumber) {
    throw new UsageError(
      `Cannot play ${
        spec?.id ?? "this environment"
      } by hand, whose actions are a ${space.type}: expected discrete ones, or a box of one number`,
    );
  }
  const [low, high] = [boundAt(space.low, 0), boundAt(space.high, 0)];
  return (line) => {
    const action = numberOf(line), isIn = action >= low && action <= high;
    return [isIn ? Float32Array.of(action) : undefined, `${low} to ${high}`];
  };
}
