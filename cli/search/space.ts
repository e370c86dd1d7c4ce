import {
  type AlgorithmDefinition,
  type ConfigSchema,
  defaultsOf,
  findKey,
  hintAt,
  type PropertySchema,
} from "@bellman/agent";
import { findAlgorithm } from "../config/algorithms.ts";
import { fullSchema } from "../config/resolve.ts";
import { validateEntries } from "../config/settings.ts";
import { UsageError } from "../terminal/errors.ts";

/** Values of a setting that are searched. */
export type Dimension =
  | {
    kind: "float" | "int";
    low: number;
    high: number;
    /** True where the logarithm is searched. */
    log: boolean;
    /** Distance of the values from `low` on. */
    step?: number;
  }
  | { kind: "choice"; choices: readonly unknown[] };

/** Searched settings by name. */
export type Space = Readonly<Record<string, Dimension>>;

/** Settings of every run that can be searched; all of the algorithm's can. */
const SEARCHED_OF_RUN: readonly string[] = [
  "numEnvs",
  "frameStack",
  "normalizeObservation",
  "normalizeReward",
  "clipReward",
];

/** Keys of a range. */
const RANGE: ConfigSchema = {
  properties: {
    min: { type: "number" },
    max: { type: "number" },
    scale: { type: "string", enum: ["linear", "log"], default: "linear" },
    step: { type: ["number", "null"], exclusiveMinimum: 0, default: null },
  },
};

/** Returns true for settings of whole numbers; undefined for those that are no numbers. */
function isInteger(
  { type, multipleOf, anyOf = [] }: PropertySchema,
): boolean | undefined {
  const types = [type].flat();
  if (types.includes("integer") || multipleOf === 1) return true;
  if (types.includes("number")) return false;
  return anyOf.map(isInteger).find((it) => it !== undefined);
}

/** Checks values as those of a setting. */
function checkValues(
  key: string,
  values: readonly unknown[],
  { schema, origin }: { schema: ConfigSchema; origin: string },
): void {
  for (const value of values) {
    validateEntries([[key, value]], { schema, origin });
  }
}

function readRange(
  key: string,
  value: object,
  { schema, origin }: { schema: ConfigSchema; origin: string },
): Dimension {
  const where = `space.${key} of ${origin}`;
  const refuse = (why: string) => new UsageError(`Cannot use ${where}: ${why}`);
  const whole = isInteger(schema.properties[findKey(schema, key)!]);
  if (whole === undefined) {
    throw refuse("it is no number, expected a list of its values");
  }
  const given = validateEntries(Object.entries(value), {
    schema: RANGE,
    origin: where,
  });
  const { min: low, max: high, scale, step } = {
    ...defaultsOf<Record<string, unknown>>(RANGE),
    ...given,
  } as { min: number; max: number; scale: string; step: number | null };
  const log = scale === "log";
  if (given.min === undefined || given.max === undefined) {
    throw refuse("expected both min and max, as in { min: 0.001, max: 0.1 }");
  }
  checkValues(key, [low, high], { schema, origin: where });
  if (low >= high) throw refuse(`min ${low} is not below max ${high}`);
  if (log && low <= 0) {
    throw refuse(`scale: log takes a min above 0, not ${low}`);
  }
  if (log && step !== null) throw refuse("scale: log takes no step");
  if (step === null) return { kind: whole ? "int" : "float", low, high, log };
  if (whole && !Number.isInteger(step)) {
    throw refuse(`step ${step} is no whole number`);
  }
  if (low + step > high) {
    throw refuse(`it has one value: step ${step} leads beyond max ${high}`);
  }
  return { kind: whole ? "int" : "float", low, high, log, step };
}

function readChoices(
  key: string,
  choices: readonly unknown[],
  { schema, origin }: { schema: ConfigSchema; origin: string },
): Dimension {
  const where = `space.${key} of ${origin}`;
  const refuse = (why: string) => new UsageError(`Cannot use ${where}: ${why}`);
  checkValues(key, choices, { schema, origin: where });
  const texts = choices.map((it) => JSON.stringify(it));
  const twice = texts.find((it, i) => texts.indexOf(it) < i);
  if (twice !== undefined) throw refuse(`${twice} is in it twice`);
  if (choices.length < 2) {
    throw refuse("it has one value, which belongs into 'set'");
  }
  return { kind: "choice", choices };
}

/** Finds the setting that is searched, by its own name. */
function searchedKey(
  name: string,
  algorithm: AlgorithmDefinition,
  { schema, origin }: { schema: ConfigSchema; origin: string },
): string {
  const key = findKey(schema, name);
  const isOwn = key !== undefined &&
    Object.hasOwn(algorithm.schema.properties, key);
  if (isOwn || SEARCHED_OF_RUN.includes(key ?? "")) return key!;
  const names = [
    ...Object.keys(algorithm.schema.properties),
    ...SEARCHED_OF_RUN,
  ];
  if (key !== undefined) {
    throw new UsageError(
      `Cannot search '${name}' of ${origin}: it is the same in all trials, expected a setting of ${algorithm.name} or one of ${
        SEARCHED_OF_RUN.join(", ")
      }`,
    );
  }
  throw new UsageError(
    `Unknown key '${name}' in space of ${origin}: ${hintAt(name, names)}`,
  );
}

/**
 * Reads the searched settings: ranges and lists that the algorithm's schema allows.
 *
 * @param value What `space` holds.
 * @param options Algorithm, and name of the file for messages.
 * @throws {UsageError} If a key is unknown, or values are not valid.
 */
export function readSpace(
  value: unknown,
  { algorithm, origin }: { algorithm: string; origin: string },
): Space {
  const definition = findAlgorithm(algorithm)!;
  const schema = fullSchema(definition), about = { schema, origin };
  const entries = Object.entries(value ?? {});
  if (entries.length === 0) {
    throw new UsageError(
      `Cannot search ${origin}: its space is empty, expected settings, as in 'learningRate: { min: 1e-4, max: 1e-2, scale: log }'`,
    );
  }
  const space: Record<string, Dimension> = {};
  for (const [name, given] of entries) {
    const key = searchedKey(name, definition, about);
    if (Object.hasOwn(space, key)) {
      throw new UsageError(
        `Cannot search '${name}' of ${origin}: ${key} is in its space already`,
      );
    }
    if (typeof given !== "object" || given === null) {
      throw new UsageError(
        `Cannot use space.${name} of ${origin}: expected { min, max } or a list of values, not ${
          JSON.stringify(given)
        }`,
      );
    }
    space[key] = Array.isArray(given)
      ? readChoices(name, given, about)
      : readRange(name, given, about);
  }
  return space;
}

function isIn(value: unknown, dimension: Dimension): boolean {
  if (dimension.kind === "choice") {
    const text = JSON.stringify(value);
    return dimension.choices.some((it) => JSON.stringify(it) === text);
  }
  const { kind, low, high } = dimension;
  return typeof value === "number" && value >= low && value <= high &&
    (kind === "float" || Number.isInteger(value));
}

/** True where a space has all of the settings, and no others. */
export function isInSpace(
  params: Readonly<Record<string, unknown>>,
  space: Space,
): boolean {
  return Object.keys(Object(params)).every((key) =>
    Object.hasOwn(space, key)
  ) && Object.entries(space).every(([key, it]) => isIn(params?.[key], it));
}
