import type {
  Batch,
  BoxArray,
  BoxSpace,
  Env,
  Space,
  VecEnv,
} from "@bellman/types";
import { box, dict } from "../spaces/constructors.ts";
import { copyBatch } from "../spaces/batch.ts";
import { ObservationWrapper } from "./transforms.ts";

/** Smallest side of what is taken for an image: the layers of `cnn` fit into it. */
const SMALLEST_IMAGE = 36;

/**
 * Finds images whose channels are not on the last axis, where networks for images and
 * stacks of frames expect them.
 *
 * @param shape Shape of one observation.
 * @returns `first` for images `[channels, height, width]`, `none` for gray ones
 * `[height, width]`, undefined for all else. An image has sides of at least 36, and
 * fewer channels.
 *
 * @example
 * ```ts
 * import { channelAxis } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const shapes = [[3, 84, 84], [84, 84], [84, 84, 3], [4]];
 * assertEquals(shapes.map(channelAxis), ["first", "none", undefined, undefined]);
 * ```
 */
export function channelAxis(
  shape: readonly number[],
): "first" | "none" | undefined {
  const [height, width] = shape.slice(-2);
  if (!(Math.min(height, width) >= SMALLEST_IMAGE)) return undefined;
  if (shape.length === 2) return "none";
  const isFirst = shape.length === 3 && shape[0] < SMALLEST_IMAGE;
  return isFirst ? "first" : undefined;
}

/** Moves the first axis of rows `[channels, height, width]` to the end. */
function turn(
  { shape: [channels, height, width] }: BoxSpace,
  source: ArrayLike<number>,
  target: { [index: number]: number },
): void {
  const pixels = height * width, size = channels * pixels;
  for (let row = 0, to = 0; row < source.length; row += size) {
    for (let pixel = row; pixel < row + pixels; pixel++) {
      for (let at = pixel; at < pixel + size; at += pixels) {
        target[to++] = source[at];
      }
    }
  }
}

/** Place of an image's channels. */
type Axis = ReturnType<typeof channelAxis>;

/** Finds the channels of a part of a dict. */
function axisOf(space: Space): Axis {
  return space.type === "box" ? channelAxis(space.shape) : undefined;
}

/** Finds the channels of a whole observation, which may be a small image. */
function wholeAxis(space: Space): Axis {
  const { shape = [] } = space as Partial<BoxSpace>;
  if (shape.length === 2) return "none";
  return shape.length === 3 && shape[0] < shape[2] ? "first" : undefined;
}

/** Returns the space of turned images. */
function turned(space: Space, axis: Axis): Space {
  if (axis === undefined) return space;
  const { shape, low, high, dtype } = space as BoxSpace;
  if (axis === "none") return box({ low, high, shape: [...shape, 1], dtype });
  const [least, most] = [low, high].map((bound) => {
    const numbers: number[] = [];
    if (typeof bound !== "number") turn(space as BoxSpace, bound, numbers);
    return typeof bound === "number" ? bound : numbers;
  });
  const last = [...shape.slice(1), shape[0]];
  return box({ low: least, high: most, shape: last, dtype });
}

/** Returns the space of observations whose images are turned. */
function turnedSpace(space: Space): Space {
  const isDict = space.type === "dict";
  const made = isDict
    ? dict(Object.fromEntries(
      Object.entries(space.spaces)
        .map(([name, part]) => [name, turned(part, axisOf(part))]),
    ))
    : turned(space, wholeAxis(space));
  const isSame = isDict
    ? Object.values(space.spaces).every((part) => axisOf(part) === undefined)
    : made === space;
  if (!isSame) return made;
  const found = space.type === "box"
    ? `[${space.shape}]`
    : `of a ${space.type}`;
  throw new TypeError(
    `Cannot put the channels of observations ${found} last: expected images [channels, height, width] or [height, width]`,
  );
}

/**
 * Puts the channels of images last, as networks for images take them:
 * `[channels, height, width]` becomes `[height, width, channels]`, and
 * `[height, width]` gets a channel of its own. Of a dict, those parts that
 * {@linkcode channelAxis} takes for such images; a single box may be smaller. Frames
 * are stacked around it.
 *
 * @typeParam E Environment inside.
 *
 * @example
 * ```ts
 * import { box, ChannelsLast, makeVec, TransformObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const images = new TransformObservation(
 *   makeVec("Chain-v0", { numEnvs: 1 }),
 *   () => Uint8Array.of(1, 2, 3, 4, 5, 6), // two channels, one row of three pixels
 *   { space: box({ low: 0, high: 255, shape: [2, 1, 3], dtype: "uint8" }) },
 * );
 * const env = new ChannelsLast(images);
 * assertEquals(env.reset(), Uint8Array.of(1, 4, 2, 5, 3, 6));
 * ```
 */
export class ChannelsLast<E extends Env | VecEnv = Env>
  extends ObservationWrapper<E> {
  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   * @throws {TypeError} If its observations are no images, and none of their parts.
   */
  constructor(env: E) {
    const { observationSpace } = env;
    super(env, { space: turnedSpace(observationSpace) });
  }

  /**
   * Turns the images.
   *
   * @param source Observations of the environments inside.
   * @param target Array for the new ones.
   */
  protected override transformRows(source: Batch, target: Batch): void {
    const { observationSpace: space } = this.env;
    if (space.type !== "dict") {
      return copyTurned(space, { source, target, axis: wholeAxis(space) });
    }
    for (const [name, part] of Object.entries(space.spaces)) {
      const axis = axisOf(part);
      const [from, to] = [source, target].map((it) =>
        (it as Record<string, Batch>)[name]
      );
      copyTurned(part, { source: from, target: to, axis });
    }
  }
}

function copyTurned(
  space: Space,
  { source, target, axis }: { source: Batch; target: Batch; axis: Axis },
): void {
  if (axis !== "first") copyBatch(source, target);
  else turn(space as BoxSpace, source as BoxArray, target as BoxArray);
}
