import type {
  BoxArray,
  DiscreteSpace,
  EnvSpec,
  EpisodeStatistics,
  Space,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { checkNumEnvs, checkSavedEnvs, checkStepLimit } from "../_checks.ts";
import type { MutableStep } from "../_steps.ts";
import { checkReset, copySeeds, DEFAULT_SEED, VEC_RESET } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import { checkActions } from "../spaces/_action_rows.ts";
import { box, discrete } from "../spaces/constructors.ts";
import { FrameStacker } from "../wrappers/frame_stack.ts";
import { FusedGame } from "./_fused_game.ts";
import type { AtariOptions } from "./preprocessing_options.ts";
import { seedSequence } from "./emulator/_ale_random.ts";
import { Ale } from "./emulator/ale.ts";
import { gameActions, gameOfId } from "./emulator/roms.ts";
import { ScreenPreprocessor } from "./preprocess/_screen_preprocessor.ts";
import {
  emulatorOptions,
  limitedSpec,
  resolvePreprocessing,
} from "./preprocessing_options.ts";
import { checkNoop } from "./wrappers/game_rules.ts";

/** Settings of {@linkcode AtariVecEnv}. */
export interface AtariVecOptions extends AtariOptions {
  /** Number of environments. */
  numEnvs: number;
}

const NONE: readonly EpisodeStatistics[] = [];

/**
 * Many environments of a preprocessed Atari game that step together: the
 * numbers of {@linkcode atari}, bit for bit, with everything that it wraps
 * around a game fused. Screens are taken of the frames that are seen only, they
 * become small gray frames in WebAssembly SIMD, and frames are stacked where
 * the observations lie; nothing is allocated in a step in which no game ends.
 *
 * With `terminalOnLifeLoss`, `terminated` is set with each life that is lost.
 * `episodes` lists whole games with their true scores, and in `lifeReturns` those
 * of the lives. A game that ends while a reset presses FIRE is told in the step
 * after.
 *
 * @example
 * ```ts
 * import { AtariVecEnv, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = new AtariVecEnv("ALE/Pong-v5", { numEnvs: 2 });
 *   env.reset({ seed: 0 });
 *   const { observations } = env.step(Int32Array.of(2, 3));
 *   assertEquals(observations.length, 2 * 84 * 84 * 4);
 *   env.close();
 * }
 * ```
 */
export class AtariVecEnv implements VecEnv<Uint8Array, Int32Array> {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Space of one environment's observations. */
  readonly observationSpace: Space;
  /** Space of one environment's actions. */
  readonly actionSpace: DiscreteSpace;
  /** Its specification. */
  readonly spec: EnvSpec;
  /** Frames of an observation; none where they are along a first axis. */
  readonly stackedFrames?: number;

  #games: FusedGame[] = [];
  /** Settings that snapshots must have. */
  #settings: string;
  #stacker: FrameStacker;
  #isSeeded = false;
  #step: MutableStep;

  /**
   * Makes the environments.
   *
   * @param id The game, as `ALE/Pong-v5`, `PongNoFrameskip-v4` or `pong`; its
   * settings are those of the options.
   * @param options Their number and preprocessing.
   * @throws {RangeError} If there is no such game or preset, or a number is out
   * of its range.
   * @throws {TypeError} If there is no such setting, it is of another type, or
   * steps without an action are needed where action 0 does something.
   * @throws {Error} If the emulator or the ROM is missing.
   */
  constructor(id: string, options: AtariVecOptions) {
    const { numEnvs, maxEpisodeSteps = Infinity, ...rest } = options;
    checkNumEnvs(id, numEnvs);
    checkStepLimit(maxEpisodeSteps);
    const settings = resolvePreprocessing(id, rest);
    const { size, frameStack, stackAxis, maximum } = settings;
    this.numEnvs = numEnvs;
    this.spec = limitedSpec(id, { maxEpisodeSteps, ...settings });
    const shape = [size.height, size.width, 1];
    this.#stacker = new FrameStacker(
      box({ low: 0, high: 255, shape, dtype: "uint8" }),
      numEnvs,
      { size: frameStack, axis: stackAxis },
    );
    const { space, sharedFrames } = this.#stacker.layout;
    this.observationSpace = space;
    this.stackedFrames = sharedFrames;
    const game = gameOfId(id);
    const all = { game: game.id, maxEpisodeSteps, ...settings };
    this.#settings = JSON.stringify(Object.entries(all).sort());
    const actions = gameActions(game, settings.fullActionSpace);
    if (settings.noopMax > 0 || settings.terminalOnLifeLoss) {
      checkNoop(actions.meanings);
    }
    this.actionSpace = discrete(actions.numbers.length);
    const emulators: Ale[] = [];
    while (emulators.length < numEnvs) {
      emulators.push(new Ale(game.id, emulatorOptions(settings)));
    }
    const [{ palette, height }] = emulators;
    const screens = new ScreenPreprocessor({ maximum, size, palette, height });
    this.#games = emulators.map((ale) =>
      new FusedGame({ ale, actions, settings, screens, maxEpisodeSteps })
    );
    this.#step = {
      observations: this.#stacker.stacks,
      rewards: new Float64Array(numEnvs),
      terminated: new Uint8Array(numEnvs),
      truncated: new Uint8Array(numEnvs),
      finalObservations: this.#stacker.finalStacks,
      episodes: NONE,
    };
  }

  /**
   * Starts a game in every environment.
   *
   * @param options A seed, or one for each environment, starts the random
   * streams anew.
   * @returns The first observations; reused by the next step.
   * @throws {RangeError} If a seed is not a whole number of at least 0, or there
   * are too few or too many.
   */
  reset(options: VecResetOptions = {}): Uint8Array {
    checkReset(options, VEC_RESET);
    const seed = options.seed ?? (this.#isSeeded ? undefined : DEFAULT_SEED);
    const seeds = seed === undefined
      ? undefined
      : copySeeds(seed, this.numEnvs);
    this.#isSeeded = true;
    for (let row = 0; row < this.numEnvs; row++) {
      this.#begin(row, seeds?.[row]);
    }
    return this.#stacker.stacks as Uint8Array;
  }

  #begin(row: number, seed?: number): void {
    const game = this.#games[row];
    if (seed === undefined) game.begin();
    else game.begin({ starts: seed, emulator: seedSequence(seed, 2)[1] });
    this.#stacker.start(row, game.frame(), 0);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each environment.
   * @returns The step's result; the same object and arrays each time.
   * @throws {RangeError} If there are too few or too many actions, or one is
   * not of the action space; none is stepped then.
   * @throws {Error} If `reset` has not been called.
   */
  step(actions: Int32Array): VecStep<Uint8Array> {
    this.#checkActions(actions as BoxArray);
    this.#step.episodes = NONE;
    for (let row = 0; row < this.numEnvs; row++) {
      this.#stepRow(row, (actions as BoxArray)[row]);
    }
    return this.#step as VecStep<Uint8Array>;
  }

  #stepRow(row: number, action: number): void {
    const step = this.#step, game = this.#games[row];
    game.step(action);
    step.rewards[row] = game.reward;
    step.terminated[row] = game.terminated ? 1 : 0;
    step.truncated[row] = game.truncated ? 1 : 0;
    const ended = game.takeEnded();
    if (ended.length > 0) {
      const told = ended.map((it) => ({ env: row, ...it }));
      step.episodes = [...step.episodes!, ...told];
    }
    if (game.terminated || game.truncated) {
      this.#stacker.end(row, game.frame(), 0);
      this.#begin(row);
    } else {
      this.#stacker.push(row, game.frame(), 0);
    }
  }

  #checkActions(actions: BoxArray): void {
    if (!this.#isSeeded) {
      throw new Error(
        `Cannot step ${this.spec.id} as its episodes have not begun: call reset first`,
      );
    }
    checkActions(this.actionSpace, actions, this.numEnvs);
  }

  /**
   * Saves the state of all environments, random streams included.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return {
      settings: this.#settings,
      games: this.#games.map((game) => game.save()),
      observations: this.#stacker.stacks.slice(),
      isSeeded: this.#isSeeded,
    };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot The state that `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   * @throws {RangeError} If it is of another number of environments.
   */
  load(snapshot: StateTree): void {
    const keys = ["settings", "games", "observations", "isSeeded"];
    const record = snapshotRecord(snapshot, keys);
    const { settings, games, observations, isSeeded } = record;
    if (settings !== this.#settings) {
      throw new TypeError(
        `Cannot restore ${this.spec.id}: the snapshot is of other settings`,
      );
    }
    const states = games as StateTree[];
    checkSavedEnvs(this.numEnvs, states.length);
    this.#stacker.load(observations);
    this.#games.forEach((game, i) => game.load(states[i]));
    this.#isSeeded = isSeeded as boolean;
  }

  /**
   * Returns the current observations.
   *
   * @returns The batch; reused by the next step.
   */
  observations(): Uint8Array {
    return this.#stacker.stacks as Uint8Array;
  }

  /** Frees the emulators. */
  close(): void {
    for (const game of this.#games) game.close();
  }
}
