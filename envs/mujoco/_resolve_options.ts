import { givenOptions, unknownOption, wrongOption } from "../_checks.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

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
/** Options that have a value only where one is given. */
const WITHOUT_DEFAULT = ["cameraId", "cameraName"];
const ENGINES = ["auto", "native", "wasm"];
/** Options that are whole numbers of at least this. */
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

/** What a value must be, told by the name and an example; null if it is. */
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

/** Throws unless options are known and of their kind. */
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
 * Checks options and fills in those that were left out.
 *
 * @param name The environment's name.
 * @param defaults Its own options as they are without being given.
 * @param options What was given.
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
