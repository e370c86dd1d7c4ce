import type { StateTree } from "@bellman/types";
import { snapshotRecord } from "../snapshot.ts";
import type { Ale } from "./emulator/ale.ts";
import type { GameActions } from "./emulator/roms.ts";
import type { ScreenPreprocessor } from "./preprocess/_screen_preprocessor.ts";
import type { PreprocessingSettings } from "./preprocessing_options.ts";
import {
  fireActions,
  type GameStatistics,
  GameTally,
  isLifeLost,
  NoopStarts,
} from "./wrappers/game_rules.ts";

const NOOP = 0;

/** Parts of a game. */
export interface FusedGameParts {
  /** The emulator. */
  ale: Ale;
  actions: GameActions;
  settings: PreprocessingSettings;
  /** Turns screens into frames; used by many games in turn. */
  screens: ScreenPreprocessor;
  /** Steps after which an episode is truncated. */
  maxEpisodeSteps: number;
}

/**
 * One game with everything that `atari` wraps around it, but for stacks, in one
 * object that allocates nothing in a step: no-op starts, FIRE, lives, skipped
 * frames, and screens of only those frames that are seen. The numbers are those
 * of the wrappers, which the methods are named after.
 */
export class FusedGame {
  /** The last step's reward, as the learner gets it. */
  reward = 0;
  /** True where the last step ended the episode by rules, or a life of it. */
  terminated = false;
  /** True where the last step was cut off. */
  truncated = false;

  readonly #ale: Ale;
  readonly #actions: readonly number[];
  readonly #fire: readonly number[];
  readonly #settings: PreprocessingSettings;
  readonly #screens: ScreenPreprocessor;
  readonly #maxSteps: number;
  readonly #starts: NoopStarts;
  readonly #tally: GameTally = new GameTally();
  #lives = 0;
  #steps = 0;
  #isOver = false;
  #isBetweenLives = false;
  #seesBoth = false;
  #untold: GameStatistics[] = [];

  constructor(parts: FusedGameParts) {
    const { settings, actions } = parts;
    this.#ale = parts.ale;
    this.#actions = actions.numbers;
    this.#fire = settings.fireReset ? fireActions(actions.meanings) : [];
    this.#settings = settings;
    this.#screens = parts.screens;
    this.#maxSteps = parts.maxEpisodeSteps;
    this.#starts = new NoopStarts(settings.noopMax);
  }

  /**
   * Starts an episode.
   *
   * @param seeds That of the emulator and that of the starts, which begin the
   * random streams anew.
   */
  begin(seeds?: { emulator: number; starts: number }): void {
    if (seeds !== undefined) {
      this.#untold = [];
      this.#isBetweenLives = false;
      this.#ale.reload(seeds.emulator);
      this.#starts.seed(seeds.starts);
    }
    this.#steps = 0;
    this.#episodicLifeReset();
    for (const action of this.#fire) {
      this.#episodicLifeStep(action);
      if (this.terminated || this.truncated) this.#episodicLifeReset();
    }
  }

  /** Takes one step. */
  step(action: number): void {
    this.#episodicLifeStep(action);
    if (this.#settings.clipReward) {
      this.reward = Math.max(-1, Math.min(1, this.reward));
    }
    if (++this.#steps < this.#maxSteps) return;
    this.truncated = true;
    const isCutOff = !this.#isOver && !this.#isBetweenLives;
    if (isCutOff) this.#untold.push(this.#tally.end(false));
  }

  /**
   * Returns the small gray picture of what was seen last; the next call changes
   * it.
   */
  frame(): Uint8Array {
    const screens = this.#screens;
    return this.#seesBoth ? screens.process() : screens.processOne(1);
  }

  /** Returns the games that have ended and were not reported yet. */
  takeEnded(): readonly GameStatistics[] {
    const ended = this.#untold;
    if (ended.length > 0) this.#untold = [];
    return ended;
  }

  #episodicLifeReset(): void {
    const goesOn = this.#isBetweenLives;
    if (goesOn) this.#frameskipStep(NOOP);
    if (!goesOn || this.#isOver) this.#noopReset();
    this.#isBetweenLives = false;
  }

  #episodicLifeStep(action: number): void {
    const before = this.#lives;
    this.#frameskipStep(action);
    if (!this.#settings.terminalOnLifeLoss) return;
    if (!isLifeLost(before, this.#lives)) return;
    this.terminated = true;
    this.#isBetweenLives = !this.#isOver;
  }

  #noopReset(): void {
    const ale = this.#ale;
    ale.reset();
    for (let left = this.#starts.draw(); left > 0; left--) {
      ale.act(NOOP);
      if (ale.gameOver || ale.truncated) ale.reset();
    }
    this.#isOver = false;
    this.#lives = ale.lives;
    this.#tally.begin(this.#lives);
    this.#seeOne();
  }

  /** And `EpisodeInfo`'s, which stands around it. */
  #frameskipStep(action: number): void {
    const ale = this.#ale, { frameskip } = this.#settings;
    const pressed = this.#actions[action];
    let frame = 0;
    this.reward = 0;
    do {
      // What the frame before the last one showed.
      if (++frame === frameskip) ale.screen(this.#screens.screens[0]);
      this.reward += ale.act(pressed);
      this.terminated = ale.gameOver;
      this.truncated = ale.truncated;
      this.#isOver = this.terminated || this.truncated;
    } while (frame < frameskip && !this.#isOver);
    this.#seeOne();
    this.#seesBoth = frame === frameskip && frameskip > 1;
    this.#lives = ale.lives;
    this.#tally.add(this.reward, this.#lives);
    if (this.#isOver) this.#untold.push(this.#tally.end(this.terminated));
  }

  #seeOne(): void {
    this.#ale.screen(this.#screens.screens[1]);
    this.#seesBoth = false;
  }

  save(): StateTree {
    return {
      ale: this.#ale.save(),
      starts: this.#starts.save(),
      tally: this.#tally.save(),
      lives: this.#lives,
      steps: this.#steps,
      isOver: this.#isOver,
      isBetweenLives: this.#isBetweenLives,
      untold: structuredClone(this.#untold) as unknown as StateTree,
    };
  }

  load(state: StateTree): void {
    const own = snapshotRecord(state, [
      "ale",
      "starts",
      "tally",
      "lives",
      "steps",
      "isOver",
      "isBetweenLives",
      "untold",
    ]);
    this.#ale.load(own.ale);
    this.#starts.load(own.starts);
    this.#tally.load(own.tally);
    this.#lives = own.lives as number;
    this.#steps = own.steps as number;
    this.#isOver = own.isOver as boolean;
    this.#isBetweenLives = own.isBetweenLives as boolean;
    this.#untold = structuredClone(own.untold) as unknown as GameStatistics[];
  }

  close(): void {
    this.#ale.close();
  }
}
