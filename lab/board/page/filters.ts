/** Settings of a run by name; nested ones have dotted names. */
export type Settings = Readonly<Record<string, unknown>>;

/** Run as the filter sees it. */
export interface Filtered {
  /** Text to search for words. */
  readonly text: string;
  readonly settings: Settings;
}

/** Flattens nested settings to dotted names. */
export function flatten(settings: Settings, prefix = ""): Settings {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) =>
      isMapping(value) && Object.keys(value).length > 0
        ? Object.entries(flatten(value, `${prefix}${key}.`))
        : [[prefix + key, value]]
    ),
  );
}

function isMapping(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Formats a setting: texts as they are, others as JSON. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

type Test = (run: Filtered) => boolean;

/** Words; quoted ones may contain spaces. */
const WORD = /(?:"[^"]*"?|[^\s"])+/g;
const COMPARISON = /^([^=<>!]+)(!=|<=|>=|=|<|>)(.*)$/s;

/**
 * Makes the test of a filter: words that a run's text must contain, ignoring case, and
 * comparisons such as `gamma=0.99`, `env=Cart*`, `numEnvs>=8` or `optimizer!=adam`.
 */
export function matcherOf(filter: string): Test {
  const tests = (filter.match(WORD) ?? [])
    .map((word) => testOf(word.replaceAll('"', "")));
  return (run) => tests.every((test) => test(run));
}

function testOf(word: string): Test {
  const [, key, sign, wanted] = COMPARISON.exec(word) ?? [];
  if (key === undefined) {
    const part = word.toLowerCase();
    return ({ text }) => text.toLowerCase().includes(part);
  }
  const holds = comparison(sign, wanted);
  return ({ settings }) => holds(settings[key]);
}

function comparison(
  sign: string,
  wanted: string,
): (value: unknown) => boolean {
  if (sign === "=" || sign === "!=") {
    const source = wanted.split("*").map(RegExp.escape).join(".*");
    const pattern = new RegExp(`^${source}$`, "is");
    const number = wanted === "" ? NaN : Number(wanted);
    const isEqual = (value: unknown) =>
      value === number ||
      value !== undefined && pattern.test(valueText(value));
    return sign === "=" ? isEqual : (value) => !isEqual(value);
  }
  const limit = Number(wanted);
  return (value) => {
    if (typeof value !== "number" || wanted === "") return false;
    if (sign[0] === "<") {
      return value < limit || sign === "<=" && value === limit;
    }
    return value > limit || sign === ">=" && value === limit;
  };
}

/** Settings that do not characterize a run: locations of its code. */
export const PASSED_OVER = /^(envModules|algorithmModules)$/;

/**
 * Lists the varied settings: those in which runs of an algorithm differ in an
 * environment. A setting that some lack is included if it is nested, such as an
 * environment option.
 */
export function differing(runs: readonly Settings[]): string[] {
  const varied = new Set<string>();
  const tasks = Map.groupBy(
    runs,
    ({ algorithm, env }) => JSON.stringify([algorithm, env]),
  );
  for (const group of tasks.values()) {
    const first = new Map<string, string>(), counts = new Map<string, number>();
    for (const settings of group) {
      for (const [key, value] of Object.entries(settings)) {
        if (PASSED_OVER.test(key)) continue;
        const text = valueText(value), before = first.get(key);
        if (before === undefined) first.set(key, text);
        else if (before !== text) varied.add(key);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
    for (const [key, count] of counts) {
      if (key.includes(".") && count < group.length) varied.add(key);
    }
  }
  return [...varied].sort();
}

/** Compares values of a column: numbers by size, then texts; missing ones come last. */
export function compare(a: unknown, b: unknown): number {
  const rank = (value: unknown) =>
    typeof value === "number" && !Number.isNaN(value)
      ? 0
      : value === undefined || value === null || value === "" ||
          Number.isNaN(value)
      ? 2
      : 1;
  const [left, right] = [rank(a), rank(b)];
  if (left !== right) return left - right;
  if (left === 0) return (a as number) - (b as number);
  return left === 2
    ? 0
    : valueText(a).localeCompare(valueText(b), "en", { numeric: true });
}

/** Sorts by a column; missing values come last in both directions. */
export function sortBy<T>(
  items: readonly T[],
  valueOf: (item: T) => unknown,
  { descending = false }: { descending?: boolean } = {},
): T[] {
  const isMissing = (value: unknown) => compare(value, undefined) === 0;
  return items.map((item) => ({ item, value: valueOf(item) }))
    .sort((a, b) => {
      const order = compare(a.value, b.value);
      return descending && !isMissing(a.value) && !isMissing(b.value)
        ? -order
        : order;
    }).map(({ item }) => item);
}
