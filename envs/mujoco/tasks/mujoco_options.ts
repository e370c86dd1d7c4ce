import { givenOptions, unknownOption, wrongOption } from "../../_checks.ts";

/**
 * Camera of a picture where no camera of the model is asked for: at a distance,
 * following a body.
 */
export interface CameraConfig {
  /**
   * Number of the body to follow; -1 to look at one place.
   *
   * @default 1
   */
  trackBodyId?: number;
  /**
   * Distance from the place that is looked at, in metres.
   *
   * @default 4
   */
  distance?: number;
  /**
   * Place to look at, `[x, y, z]` in metres; of a followed body only the
   * height is taken.
   *
   * @default where the followed body is
   */
  lookAt?: readonly number[];
  /**
   * Degrees above the horizon of the direction of view: negative from above.
   *
   * @default -20
   */
  elevation?: number;
  /**
   * Degrees around the vertical axis; 90 looks along `y`.
   *
   * @default 90
   */
  azimuth?: number;
}

/**
 * Options that all environments on MuJoCo have. Gymnasium's `render_mode`,
 * `max_geom` and `visual_options` have no counterpart: `render` always returns
 * a picture, which our own renderer draws.
 */
export interface MujocoOptions {
  /**
   * Model: a file's path, or a name such as `ant.xml` among the installed
   * ones.
   *
   * @default the environment's own of Gymnasium
   */
  xmlFile?: string;
  /**
   * Steps of the simulation for each step of the environment.
   *
   * @default the environment's own of Gymnasium
   */
  frameSkip?: number;
  /**
   * Camera of `render`.
   *
   * @default the environment's own
   */
  defaultCameraConfig?: CameraConfig;
  /**
   * Number of the model's camera to look through.
   *
   * @default none: `defaultCameraConfig` is used
   */
  cameraId?: number;
  /**
   * Name of the model's camera to look through.
   *
   * @default none: `defaultCameraConfig` is used
   */
  cameraName?: string;
  /**
   * Pixels in a row of `render`'s picture.
   *
   * @default 480
   */
  width?: number;
  /**
   * Rows of `render`'s picture.
   *
   * @default 480
   */
  height?: number;
  /**
   * Engine that computes: the native library, MuJoCo compiled to WebAssembly,
   * which importing `@bellman/envs/mujoco/wasm` loads, or the first of them that
   * is there. Their last digits differ.
   *
   * @default "auto"
   */
  engine?: "auto" | "native" | "wasm";
}

const CAMERA = {
  trackBodyId: 1,
  distance: 4,
  lookAt: [0, 0, 0],
  elevation: -20,
  azimuth: 90,
};
const COMMON = {
  cameraId: 0,
  cameraName: "",
  width: 480,
  height: 480,
  engine: "auto",
};
/** Options without a default. */
const WITHOUT_DEFAULT = ["cameraId", "cameraName"];
const ENGINES = ["auto", "native", "wasm"];
/** Least values of options that are whole numbers. */
const WHOLE: Readonly<Record<string, number>> = {
  frameSkip: 1,
  width: 1,
  height: 1,
  cameraId: 0,
  trackBodyId: -1,
};

type Named = Readonly<Record<string, unknown>>;

function isNumber(value: unknown): value is number {
  return typeof value === "number" && !Number.isNaN(value);
}

function isList(value: unknown, length: number): value is number[] {
  return Array.isArray(value) && value.length === length &&
    value.every(isNumber);
}

function isPlainObject(value: unknown): value is Named {
  if (typeof value !== "object" || value === null) return false;
  return [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

/** Returns what a value must be, by its name and a default; null if it is. */
function wanted(name: string, value: unknown, like: unknown): string | null {
  if (name in WHOLE) {
    const least = WHOLE[name];
    const isFine = Number.isInteger(value) && (value as number) >= least;
    return isFine ? null : `a whole number of at least ${least}`;
  }
  if (name === "engine") {
    const isFine = ENGINES.includes(value as string);
    return isFine ? null : ENGINES.join(", ");
  }
  if (name === "mainBody") {
    const isFine = typeof value === "string" || Number.isInteger(value);
    return isFine ? null : "a body's name or number";
  }
  if (Array.isArray(like)) {
    if (like.length !== 2) return isList(value, 3) ? null : "three numbers";
    const isFine = isList(value, 2) && value[0] <= value[1];
    return isFine ? null : "a lower and an upper number";
  }
  if (typeof like === "number") {
    return isNumber(value) && Number.isFinite(value) ? null : "a finite number";
  }
  if (isPlainObject(like)) {
    return isPlainObject(value) ? null : "a plain object";
  }
  return typeof value === typeof like ? null : `a ${typeof like}`;
}

/** Checks that options are known and of their kind. */
function check(what: string, given: Named, known: Named): void {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(known, name)) {
      throw unknownOption(what, name, Object.keys(known));
    }
    if (value === undefined) continue;
    const problem = wanted(name, value, known[name]);
    if (problem === null) continue;
    throw new RangeError(wrongOption(what, [name, value], problem));
  }
}

/**
 * Checks the options that were given to an environment and fills in the others.
 *
 * @throws {TypeError} If there is none of a name, with the nearest one.
 * @throws {RangeError} If one cannot be.
 */
export function resolveOptions<D extends object>(
  name: string,
  defaults: D,
  options: object,
): D & MujocoOptions {
  const given = givenOptions(options as Named);
  check(name, given, { ...COMMON, ...defaults });
  const { defaultCameraConfig: camera } = given;
  if (isPlainObject(camera)) check(`${name}'s camera`, camera, CAMERA);
  if (given.cameraId !== undefined && given.cameraName !== undefined) {
    throw new TypeError(
      `Cannot make ${name} with both a cameraId and a cameraName: give one of them`,
    );
  }
  const common = Object.fromEntries(
    Object.entries(COMMON).filter(([key]) => !WITHOUT_DEFAULT.includes(key)),
  );
  return { ...common, ...defaults, ...given } as D & MujocoOptions;
}
