import {
  checkOptions,
  FLAG,
  oneOf,
  type OptionKind,
  type OptionKinds,
  whole,
} from "@bellman/files/options";

/**
 * Camera of a picture where no camera of the model is selected: at a distance,
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
   * Model: a file's path, a name such as `ant.xml` among the installed ones, or
   * its text, which begins with `<`.
   *
   * @default the environment's own
   */
  xmlFile?: string;
  /**
   * Steps of the simulation for each step of the environment.
   *
   * @default the environment's own
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

const FINITE: OptionKind = ["number", "a finite number", Number.isFinite];
const TEXT: OptionKind = ["string", "a string"];

/** Kinds of the options of the camera. */
const CAMERA: OptionKinds<CameraConfig> = {
  trackBodyId: whole(-1),
  distance: FINITE,
  lookAt: ["object", "three numbers", (it: object) => isList(it, 3)],
  elevation: FINITE,
  azimuth: FINITE,
};

/** Kinds of the options that all environments have. */
const COMMON: OptionKinds<MujocoOptions> = {
  xmlFile: TEXT,
  frameSkip: whole(1),
  defaultCameraConfig: ["object", "a plain object", isPlainObject],
  cameraId: whole(0),
  cameraName: TEXT,
  width: whole(1),
  height: whole(1),
  engine: oneOf("auto", "native", "wasm"),
};

function isList(value: object, length: number): value is number[] {
  return Array.isArray(value) && value.length === length &&
    value.every((it) => typeof it === "number" && !Number.isNaN(it));
}

function isPlainObject(value: object): boolean {
  return [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

/** Returns the kind of an environment's own option, of which there is a default. */
function optionKind(name: string, like: unknown): OptionKind {
  if (name === "mainBody") {
    const isFine = (it: unknown) =>
      typeof it === "string" || Number.isInteger(it);
    return [["string", "number"], "a body's name or number", isFine];
  }
  if (typeof like === "string") return TEXT;
  if (!Array.isArray(like)) return typeof like === "number" ? FINITE : FLAG;
  const isRange = (it: object) => isList(it, 2) && it[0] <= it[1];
  return ["object", "a lower and an upper number", isRange];
}

/**
 * Checks the options that were given to an environment and fills in the others.
 *
 * @throws {TypeError} If there is none of a name, with the nearest one, or it is of
 * another type.
 * @throws {RangeError} If one cannot be.
 */
export function resolveOptions<D extends MujocoOptions>(
  name: string,
  defaults: D,
  options: MujocoOptions,
): D & MujocoOptions {
  const own = Object.entries(defaults).map(([key, like]) =>
    [key, optionKind(key, like)] as const
  );
  const kinds = { ...Object.fromEntries(own), ...COMMON };
  const given = checkOptions(name, options, kinds);
  const { defaultCameraConfig: camera = {} } = given;
  checkOptions(`${name}'s camera`, camera, CAMERA);
  if (given.cameraId !== undefined && given.cameraName !== undefined) {
    throw new TypeError(
      `Cannot make ${name} with both a cameraId and a cameraName: give one of them`,
    );
  }
  return { width: 480, height: 480, engine: "auto", ...defaults, ...given };
}
