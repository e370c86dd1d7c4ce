import fc from "fast-check";
import type {
  Env,
  RgbImage,
  Space,
  StateTree,
  StepResult,
} from "@bellman/types";
import { box, discrete } from "../../spaces/constructors.ts";
import type { AtariInside } from "../wrappers/game_rules.ts";

/** What a frame brings; an end ends the game. */
export interface ScriptedFrame {
  reward: number;
  lives: number;
  end?: "terminated" | "truncated";
}

/** A game that runs the same whatever is pressed; its last frame ends it. */
export interface ScriptedGame {
  lives: number;
  frames: readonly ScriptedFrame[];
}

const MEANINGS = ["NOOP", "FIRE", "RIGHT", "LEFT"];

/**
 * Plays given games one after the other, over and over. What is seen tells which
 * game and frame it is.
 */
export class ScriptedAtari implements Env<Uint8Array>, AtariInside {
  readonly observationSpace: Space = box({
    low: 0,
    high: 255,
    shape: [2, 2, 3],
    dtype: "uint8",
  });
  readonly actionSpace: Space;
  readonly actionMeanings: readonly string[];
  /** What was done, in order: `reset` or an action. */
  readonly log: ("reset" | number)[] = [];
  readonly #games: readonly ScriptedGame[];
  #game = -1;
  #frame = 0;
  #isOver = true;

  constructor(games: readonly ScriptedGame[], meanings = MEANINGS) {
    this.#games = games;
    this.actionMeanings = meanings;
    this.actionSpace = discrete(meanings.length);
  }

  get #now(): ScriptedGame {
    return this.#games[this.#game % this.#games.length];
  }

  /** How many games were begun. */
  get games(): number {
    return this.#game + 1;
  }

  get lives(): number {
    const { lives, frames } = this.#now;
    return this.#frame === 0 ? lives : frames[this.#frame - 1].lives;
  }

  /** What is seen in a frame of a game. */
  static view(game: number, frame: number): Uint8Array {
    return new Uint8Array(12).map((_, i) =>
      i % 2 === 0 ? game + i : frame * (i % 3 === 0 ? 1 : -1)
    );
  }

  reset(options: { seed?: number } = {}): Uint8Array {
    this.log.push("reset");
    if (options.seed !== undefined) this.#game = -1;
    this.#game++;
    this.#frame = 0;
    this.#isOver = false;
    return ScriptedAtari.view(this.#game, 0);
  }

  step(action: number): StepResult<Uint8Array> {
    if (this.#isOver) throw new Error("the game is over");
    this.log.push(action);
    const { frames } = this.#now;
    const { reward, end } = frames[this.#frame++];
    const isLast = this.#frame === frames.length;
    const terminated = end === "terminated" || (isLast && end === undefined);
    this.#isOver = terminated || end === "truncated";
    return {
      observation: ScriptedAtari.view(this.#game, this.#frame),
      reward,
      terminated,
      truncated: end === "truncated",
      info: { lives: this.lives },
    };
  }

  save(): StateTree {
    return [this.#game, this.#frame, this.#isOver];
  }

  load(snapshot: StateTree): void {
    [this.#game, this.#frame, this.#isOver] = snapshot as [
      number,
      number,
      boolean,
    ];
  }

  render(): RgbImage {
    const data = ScriptedAtari.view(this.#game, this.#frame);
    return { width: 2, height: 2, data };
  }

  close(): void {}
}

const frame = fc.record({
  reward: fc.integer({ min: -3, max: 5 }),
  // Lives that go up and down, mostly stay, and are sometimes none.
  lives: fc.constantFrom(3, 3, 3, 2, 2, 2, 1, 0),
  end: fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom("terminated", "truncated") },
  ),
}) as fc.Arbitrary<ScriptedFrame>;

/** Games of some frames, with lives, early ends and time limits. */
export const scriptedGames: fc.Arbitrary<ScriptedGame[]> = fc.array(
  fc.record({
    lives: fc.integer({ min: 0, max: 3 }),
    frames: fc.array(frame, { minLength: 1, maxLength: 40 }),
  }),
  { minLength: 1, maxLength: 5 },
);

/** A game of some frames with rewards of 1, 2, 3 and so on, and some lives. */
export function plainGame(
  length: number,
  { livesAt = () => 0 }: { livesAt?: (frame: number) => number } = {},
): ScriptedGame {
  return {
    lives: livesAt(0),
    frames: Array.from(
      { length },
      (_, i) => ({ reward: i + 1, lives: livesAt(i + 1) }),
    ),
  };
}
