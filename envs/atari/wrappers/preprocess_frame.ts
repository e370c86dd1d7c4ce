import type { Env, Space, SpaceValue } from "@bellman/types";
import { AreaResizer, type ImageSize } from "../preprocess/area_resizer.ts";
import { toGray } from "../preprocess/gray.ts";
import { describeSpace } from "../../spaces/values.ts";
import { box } from "../../spaces/constructors.ts";
import { TransformObservation } from "../../wrappers/transform_observation.ts";

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
 *   assertEquals((env.reset({ seed: 0 }) as Uint8Array).length, 84 * 84);
 *   env.close();
 * }
 * ```
 */
export class PreprocessFrame extends TransformObservation {
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
    const preprocess = (observation: SpaceValue): SpaceValue => {
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
