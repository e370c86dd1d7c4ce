import type {
  BoxArray,
  Env,
  Space,
  SpaceValue,
  StepResult,
} from "@bellman/types";
import { checkWhole } from "../../_checks.ts";
import { box } from "../../spaces/constructors.ts";
import { describeSpace } from "../../spaces/values.ts";
import { Wrapper } from "../../wrappers/wrapper.ts";
import { TransformObservation } from "../../wrappers/transforms.ts";
import { AreaResizer, type ImageSize } from "../preprocess/area_resizer.ts";
import { toGray } from "../preprocess/gray.ts";

/** Settings of {@linkcode Frameskip}. */
export interface FrameskipOptions {
  /**
   * Frames of a step.
   *
   * @default 4
   */
  skip?: number;
}

/**
 * Takes each action for several frames. The rewards are summed up, and what is
 * seen is the maximum of the last two frames, since many games draw some things
 * on every other frame only.
 *
 * An episode that ends before the last frame shows the frame in which it ended.
 *
 * `AtariFrameskipWrapper` of jrobine/actor-critic, `MaxAndSkipEnv` of baselines;
 * after an early end the latter shows frames of the step before.
 *
 * @example
 * ```ts
 * import { AtariEnv, Frameskip, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const game = new AtariEnv("pong", { frameskip: 1 });
 *   const env = new Frameskip(game, { skip: 4 });
 *   env.reset({ seed: 0 });
 *   const before = game.ale.episodeFrameNumber;
 *   env.step(2);
 *   assertEquals(game.ale.episodeFrameNumber - before, 4);
 *   env.close();
 * }
 * ```
 */
export class Frameskip extends Wrapper {
  #skip: number;

  /**
   * Wraps a game.
   *
   * @param env The game; its observations are boxes.
   * @param options Frames of a step.
   * @throws {RangeError} If that is not a whole number of at least 1.
   * @throws {TypeError} If observations are not boxes.
   */
  constructor(env: Env, options: FrameskipOptions = {}) {
    super(env);
    const { skip = 4 } = options;
    checkWhole(skip, 1, `take ${skip} frames in a step`);
    const { type } = env.observationSpace;
    if (type !== "box") {
      throw new TypeError(
        `Cannot take the maximum of observations of a ${type} space: expected a box`,
      );
    }
    this.#skip = skip;
  }

  /** Steps of a second of play, if that of the game is known. */
  override get framesPerSecond(): number | undefined {
    const { framesPerSecond } = this.env;
    return framesPerSecond && framesPerSecond / this.#skip;
  }

  /**
   * Takes an action for several frames.
   *
   * @param action The action.
   * @returns The sum of rewards, and the maximum of the last two frames.
   */
  override step(action: SpaceValue): StepResult {
    let reward = 0;
    let before: BoxArray | undefined;
    for (let frame = 1;; frame++) {
      const result = super.step(action);
      reward += result.reward;
      if (frame === this.#skip) {
        const observation = result.observation as BoxArray;
        // What a step returned belongs to the caller: it may be changed.
        if (before !== undefined) raise(observation, before);
        return { ...result, reward };
      }
      if (result.terminated || result.truncated) return { ...result, reward };
      if (frame === this.#skip - 1) before = result.observation as BoxArray;
    }
  }
}

/** Raises each number to that of another frame. */
function raise(frame: BoxArray, other: BoxArray): void {
  for (let i = 0; i < frame.length; i++) {
    if (other[i] > frame[i]) frame[i] = other[i];
  }
}

/** Settings of {@linkcode PreprocessFrame}. */
export interface PreprocessFrameOptions {
  /**
   * Size of the new frames.
   *
   * @default { width: 84, height: 84 }
   */
  size?: ImageSize;
}

/** Size of a space's pictures and their bytes a pixel; one line if it has none. */
function pictureOf(space: Space): ImageSize & { channels: number } {
  if (space.type === "box" && space.dtype === "uint8") {
    const [height, width, channels = 1] = space.shape;
    const isPicture = space.shape.length === 2 || space.shape.length === 3;
    if (isPicture && (channels === 1 || channels === 3)) {
      return { width, height, channels };
    }
  }
  throw new TypeError(
    `Cannot preprocess frames of ${
      describeSpace(space)
    }: expected bytes of shape [height, width], with 3 for a colour`,
  );
}

/**
 * Turns screens into small gray pictures, `[height, width, 1]` bytes: luminance,
 * then exact averages over areas.
 *
 * `AtariPreprocessFrameWrapper` of jrobine/actor-critic, `WarpFrame` of
 * baselines; see {@linkcode AreaResizer} for how near it is to OpenCV.
 *
 * @example
 * ```ts
 * import { AtariEnv, isAtariInstalled, PreprocessFrame } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const env = new PreprocessFrame(new AtariEnv("pong"));
 *   assertEquals(env.reset({ seed: 0 }).length, 84 * 84);
 *   env.close();
 * }
 * ```
 */
export class PreprocessFrame extends TransformObservation<Env, Uint8Array> {
  /**
   * Wraps a game.
   *
   * @param env The game; its observations are screens, in colour or gray.
   * @param options Size of the new frames.
   * @throws {TypeError} If observations are not pictures of bytes.
   * @throws {RangeError} If the size is not of whole numbers of at least 1.
   */
  constructor(env: Env, options: PreprocessFrameOptions = {}) {
    const { size = { width: 84, height: 84 } } = options;
    const { width, height, channels } = pictureOf(env.observationSpace);
    const resizer = new AreaResizer({ width, height }, size);
    const gray = new Uint8Array(width * height);
    const preprocess = (observation: SpaceValue): Uint8Array => {
      const pixels = observation as Uint8Array;
      return resizer.resize(channels === 1 ? pixels : toGray(pixels, gray));
    };
    super(env, preprocess, {
      space: box({
        low: 0,
        high: 255,
        shape: [size.height, size.width, 1],
        dtype: "uint8",
      }),
    });
  }
}
