import { SeededRandom } from "@bellman/envs";
import {
  checkWorld,
  ConnectFour,
  minimax,
  scriptedPlayer,
  TicTacToe,
} from "@bellman/envs/games";
import type { World } from "@bellman/types";
import {
  checkEach,
  type Comparison,
  type FixtureRunner,
} from "./comparison.ts";
import { RockPaperScissors } from "./testdata/rock_paper_scissors.ts";

const GAMES = { connect_four: ConnectFour, tic_tac_toe: TicTacToe };

interface Ends {
  terminated: boolean[];
  truncated: boolean[];
}

/** The second of two worlds, played by one action at a time; the first stays empty. */
class Game<W extends World> {
  readonly world: W;
  readonly #actions: Int32Array[];

  constructor(world: W) {
    this.world = world;
    this.#actions = world.seats.map(() => new Int32Array(2));
    world.begin(1, new SeededRandom(0));
  }

  /** Takes an action for each seat, or one for whichever is to act. */
  step(action: number | readonly number[]): Ends & { rewards: number[] } {
    this.#actions.forEach((it, seat) =>
      it[1] = typeof action === "number" ? action : action[seat]
    );
    const step = this.world.step(this.#actions as never, Uint8Array.of(0, 1));
    return {
      rewards: [...step.rewards.subarray(2)],
      terminated: Array.from(step.terminated.subarray(2), Boolean),
      truncated: Array.from(step.truncated.subarray(2), Boolean),
    };
  }

  get toAct(): number[] {
    return [...this.world.toAct.subarray(2)];
  }

  /** What a seat sees, as a text of digits. */
  seen(seat: number): string {
    return digits(this.world.observe(seat) as Uint8Array);
  }

  masks(seat: number): string {
    return digits(this.world.actionMasks!(seat));
  }
}

/** The second half, as a text of digits. */
const digits = (rows: Uint8Array) => rows.subarray(rows.length / 2).join("");

function equal(
  comparison: Comparison,
  name: string,
  got: unknown,
  of: unknown,
) {
  const [found, expected] = [got, of].map((it) => JSON.stringify(it));
  comparison.that(
    `${name} ${found}, expected ${expected},`,
    found === expected,
  );
}

interface Visit {
  agent: number;
  observation: string | number;
  mask: string;
  maskOfOther?: string;
  reward: number;
  terminated: boolean;
  truncated: boolean;
  action: number | null;
  unfinished?: true;
  after?: Ends & { rewards: number[] };
}

/**
 * Plays what PettingZoo's agents were shown one after the other. After a game's end
 * each agent is visited once more: masks are those of the board there, 0 here.
 */
function playVisits(
  game: Game<World>,
  visits: readonly Visit[],
  comparison: Comparison,
): void {
  const rewards = [0, 0], hasMasks = game.world.actionMasks !== undefined;
  let ends: Ends = { terminated: [false, false], truncated: [false, false] };
  visits.forEach((visit, i) => {
    const { agent, action } = visit;
    const same = (name: string, got: unknown, expected: unknown) =>
      equal(comparison, `${name} of visit ${i}`, got, expected);
    const terminated = ends.terminated[agent];
    const truncated = ends.truncated[agent];
    const isOver = terminated || truncated;
    same("observation", game.seen(agent), `${visit.observation}`);
    same("reward", rewards[agent], visit.reward);
    same("terminated", terminated, visit.terminated);
    same("truncated", truncated, visit.truncated);
    same("toAct", game.toAct, [0, 1].map((it) => +(!isOver && it === agent)));
    if (hasMasks) {
      const none = visit.mask.replaceAll("1", "0");
      same("mask", game.masks(agent), isOver ? none : visit.mask);
      same("maskOfOther", game.masks(1 - agent), visit.maskOfOther ?? none);
    }
    rewards[agent] = 0;
    if (action === null) return;
    const { rewards: given, ...step } = game.step(action);
    given.forEach((it, seat) => rewards[seat] += it);
    if (step.terminated.includes(true) || step.truncated.includes(true)) {
      ends = step;
    }
    const { after } = visit;
    if (after === undefined) return;
    same("rewards after", given, after.rewards);
    same("terminated after", step.terminated, after.terminated);
    same("truncated after", step.truncated, after.truncated);
  });
}

interface SolvedPositions {
  positions: number;
  byValue: Record<string, number>;
  states: [position: string, value: number, best: string][];
}

/** Finds the value of a position and its best actions. */
function solve(world: TicTacToe, position: string): [number, string] {
  const boards = Uint8Array.from(position, Number);
  const steps = Int32Array.of(boards.filter((it) => it > 0).length);
  const toAct = Uint8Array.of(1 - steps[0] % 2, steps[0] % 2);
  world.load({ boards, steps, toAct });
  const values = [...world.actionValues(0)];
  const value = Math.max(...values.filter((it) => !Number.isNaN(it)));
  const best = values.flatMap((it, action) => it === value ? [action] : []);
  return [value, best.join("")];
}

/** Lists all positions that are not over, by playing every line. */
function positionsOf(world: TicTacToe): Set<string> {
  const found = new Set<string>();
  const visit = () => {
    const state = world.save() as { boards: Uint8Array };
    const position = state.boards.join("");
    if (found.has(position) || !world.toAct.includes(1)) return;
    found.add(position);
    for (let action = 0; action < 9; action++) {
      if (position[action] !== "0") continue;
      const actions = Int32Array.of(action);
      world.step([actions, actions], Uint8Array.of(1));
      visit();
      world.load(state);
    }
  };
  world.begin(0, new SeededRandom(0));
  visit();
  return found;
}

async function runSolved(
  { positions, byValue, states }: SolvedPositions,
  comparison: Comparison,
): Promise<void> {
  const world = new TicTacToe();
  await comparison.check("ticTacToeSolved positions", () => {
    const all = positionsOf(world), counts: Record<string, number> = {};
    for (const position of all) {
      const [value] = solve(world, position);
      counts[value] = (counts[value] ?? 0) + 1;
    }
    comparison.that(`${all.size} positions`, all.size === positions);
    comparison.named(counts, byValue);
  });
  const play = scriptedPlayer(world), random = new SeededRandom(0);
  for (const [position, value, best] of states) {
    await comparison.check(`ticTacToeSolved ${position}`, () => {
      equal(comparison, "value and best", solve(world, position), [
        value,
        best,
      ]);
      const actions = new Int32Array(1), seat = world.toAct[1];
      play(world, { seat, actions, random });
      comparison.that(`scripted ${actions[0]}`, best.includes(`${actions[0]}`));
    });
  }
}

interface ForcedCase {
  moves: number[];
  depth: number;
  columns: number[];
  values: number[];
}

interface ParallelCase {
  numActions: number;
  maxCycles: number;
  actions: number[][];
  first: number[];
  steps: (Ends & {
    observations: number[];
    rewards: number[];
    alive: boolean[];
  })[];
}

const cases = checkEach({
  games(
    { game, visits }: { game: keyof typeof GAMES; visits: Visit[] },
    comparison,
  ) {
    playVisits(new Game(new GAMES[game]({ numEnvs: 2 })), visits, comparison);
  },
  connectFourForced({ moves, depth, columns, values }: ForcedCase, comparison) {
    const game = new Game(new ConnectFour({ numEnvs: 2 })), { world } = game;
    moves.forEach((column) => game.step(column));
    const found = [...world.actionValues(1, { depth })];
    const legal = found.flatMap((it, i) => Number.isNaN(it) ? [] : [i]);
    equal(comparison, "columns", legal, columns);
    equal(comparison, "values", legal.map((it) => found[it]), values);
    const actions = new Int32Array(2), random = new SeededRandom(0);
    minimax({ depth })(world, { seat: game.toAct[1], actions, random });
    const best = found[actions[1]] === Math.max(...values);
    comparison.that(`column ${actions[1]}`, best);
  },
  rockPaperScissors(it: ParallelCase, comparison) {
    const { numActions, maxCycles, actions, first, steps } = it;
    const options = { numEnvs: 2, numActions, maxCycles };
    checkWorld(new RockPaperScissors(options));
    const game = new Game(new RockPaperScissors(options));
    const seen = () => [0, 1].map((seat) => Number(game.seen(seat)));
    equal(comparison, "first", seen(), first);
    steps.forEach(({ observations, alive, ...expected }, i) => {
      const { rewards, terminated, truncated } = game.step(actions[i]);
      equal(comparison, `step ${i}`, [rewards, terminated, truncated], [
        ...[expected.rewards, expected.terminated, expected.truncated],
      ]);
      equal(comparison, `observations ${i}`, seen(), observations);
      equal(comparison, `toAct ${i}`, game.toAct, alive.map(Number));
    });
  },
});

/** PettingZoo's games move by move, solved positions, forced wins. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  await cases(fixture, comparison, engine);
  const { rockPaperScissorsByTurns: turns, ticTacToeSolved } = fixture;
  if (ticTacToeSolved) await runSolved(ticTacToeSolved, comparison);
  if (!turns) return;
  const { numActions, maxCycles, visits } = turns;
  const options = { numEnvs: 2, numActions, maxCycles, byTurns: true };
  await comparison.check("rockPaperScissorsByTurns", () => {
    checkWorld(new RockPaperScissors(options));
    playVisits(new Game(new RockPaperScissors(options)), visits, comparison);
  });
};
