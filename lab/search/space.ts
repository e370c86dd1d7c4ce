import {
  type Algorithm,
  type ConfigSchema,
  findKey,
  type PropertySchema,
} from "@bellman/agent";
import { hintAt } from "@bellman/files/options";
import {
  findAlgorithm,
  fullSchema,
  validateEntries,
} from "@bellman/runs/settings";
import { UsageError } from "@bellman/runs/program";

/** Values of a searched setting. */
export type Dimension =
  | {
    kind: "float" | "int";
    low: number;
    high: number;
    /** Search on a log scale. */
    log: boolean;
    /** Step between values, from `low` on. */
    step?: number;
  }
  | { kind: "choice"; choices: readonly unknown[] };

/** Search space: searched settings by name. */
export type Space = Readonly<Record<string, Dimension>>;

/** Settings of runs that can be searched, besides all of the algorithm's. */
const SEARCHED_OF_RUN: readonly string[] = [
  "numEnvs",
  "frameStack",
  "normalizeObservation",
  "normalizeReward",
  "clipReward",
  "bestFraction",
];

/** Schema of a range. */
const RANGE: ConfigSchema = {
  properties: {
    min: { type: "number" },
    max: { type: "number" },
    scale: { type: "string", enum: ["linear", "log"] },
    step: { type: "number", exclusiveMinimum: 0 },
  },
};

/** A searched setting, and where it stands. */
interface Place {
  /** Name in the file. */
  name: string;
  /** Location for error messages: `space.lr of a2c.yaml`. */
  where: string;
  /** Schema of all settings. */
  schema: ConfigSchema;
}

/** Returns true for settings of whole numbers; undefined for those that are not numbers. */
function isInteger(
  { type, multipleOf, anyOf = [] }: PropertySchema,
): boolean | undefined {
  const types = [type].flat();
  if (types.includes("integer") || multipleOf === 1) return true;
  if (types.includes("number")) return false;
  return anyOf.map(isInteger).find((it) => it !== undefined);
}

/** Checks values of a setting. */
function checkValues(
  values: readonly unknown[],
  { name, where, schema }: Place,
): void {
  for (const value of values) {
    validateEntries([[name, value]], { schema, origin: where });
  }
}

function refuse({ where }: Place, why: string): never {
  throw new UsageError(`Cannot use ${where}: ${why}`);
}

function readRange(values: object, place: Place): Dimension {
  const { name, where, schema } = place;
  const whole = isInteger(schema.properties[findKey(schema, name)!]);
  if (whole === undefined) {
    refuse(place, "it is no number, expected a list of its values");
  }
  const { min: low, max: high, scale, step } = validateEntries(
    Object.entries(values),
    { schema: RANGE, origin: where },
  ) as { min?: number; max?: number; scale?: string; step?: number };
  const log = scale === "log";
  if (low === undefined || high === undefined) {
    refuse(
      place,
      "expected both min and max, as in { min: 0.001, max: 0.1 }",
    );
  }
  checkValues([low, high], place);
  if (low >= high) refuse(place, `min ${low} is not below max ${high}`);
  if (log && low <= 0) {
    refuse(place, `scale: log takes a min above 0, not ${low}`);
  }
  const range = { kind: whole ? "int" : "float", low, high, log } as const;
  if (step === undefined) return range;
  if (log) refuse(place, "scale: log takes no step");
  if (whole && !Number.isInteger(step)) {
    refuse(place, `step ${step} is no whole number`);
  }
  if ((high - low) / step < 1 - 1e-9) {
    refuse(place, `it has one value: step ${step} leads beyond max ${high}`);
  }
  return { ...range, step };
}

function readChoices(choices: readonly unknown[], place: Place): Dimension {
  checkValues(choices, place);
  const texts = choices.map((it) => JSON.stringify(it));
  const twice = texts.find((it, i) => texts.indexOf(it) < i);
  if (twice !== undefined) refuse(place, `${twice} is in it twice`);
  if (choices.length < 2) {
    refuse(place, "it has one value, which belongs into 'set'");
  }
  return { kind: "choice", choices };
}

/** Resolves the name of a searched setting. */
function searchedKey(
  name: string,
  { meta: { name: algorithm, schema: settings } }: Algorithm,
  { schema, origin }: { schema: ConfigSchema; origin: string },
): string {
  const key = findKey(schema, name);
  const names = [...Object.keys(settings.properties), ...SEARCHED_OF_RUN];
  if (key !== undefined && names.includes(key)) return key;
  throw new UsageError(
    key === undefined
      ? `Unknown key '${name}' in space of ${origin}: ${hintAt(name, names)}`
      : `Cannot search '${name}' of ${origin}: it is the same in all trials, expected a setting of ${algorithm} or one of ${
        SEARCHED_OF_RUN.join(", ")
      }`,
  );
}

/**
 * Validates a search space: ranges and lists that the algorithm's schema allows.
 *
 * @param value Value of `space`.
 * @param options Algorithm, and name of the file for error messages.
 * @throws {UsageError} If a key is unknown, or values are not valid.
 */
export function readSpace(
  value: unknown,
  { algorithm, origin }: { algorithm: string; origin: string },
): Space {
  const definition = findAlgorithm(algorithm)!;
  const schema = fullSchema(definition);
  const entries = Object.entries(value ?? {});
  if (entries.length === 0) {
    throw new UsageError(
      `Cannot search ${origin}: its space is empty, expected settings, as in 'learningRate: { min: 1e-4, max: 1e-2, scale: log }'`,
    );
  }
  const space: Record<string, Dimension> = {};
  for (const [name, values] of entries) {
    const key = searchedKey(name, definition, { schema, origin });
    const place = { name, where: `space.${name} of ${origin}`, schema };
    if (Object.hasOwn(space, key)) {
      refuse(place, `${key} is in the space already`);
    }
    if (typeof values !== "object" || values === null) {
      refuse(
        place,
        `expected { min, max } or a list of values, not ${
          JSON.stringify(values)
        }`,
      );
    }
    space[key] = Array.isArray(values)
      ? readChoices(values, place)
      : readRange(values, place);
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

/** Returns true if a space has exactly these settings. */
export function isInSpace(
  params: Readonly<Record<string, unknown>>,
  space: Space,
): boolean {
  return Object.keys(Object(params)).every((key) =>
    Object.hasOwn(space, key)
  ) && Object.entries(space).every(([key, it]) => isIn(params?.[key], it));
}
