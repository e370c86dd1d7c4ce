import type { Engine, TensorData } from "@bellman/compute";
import { ALGORITHMS } from "../../lab/runs/settings/algorithms.ts";
import { addStatistics, statisticName } from "@bellman/training";

for (const { meta } of ALGORITHMS) addStatistics(meta.statistics ?? {});

/** A number of a fixture: those that JSON cannot hold are texts. */
export type Expected = number | boolean | string | null | Expected[];

/** What running a fixture file gave. */
export interface Outcome {
  passed: number;
  /** One line for each check that failed. */
  failures: string[];
  /** Largest deviation |a - b| / (1 + |b|) of all numbers. */
  worst: number;
}

/** Runs every check of one fixture file, tensors on an engine. */
export type FixtureRunner = (
  // deno-lint-ignore no-explicit-any -- fixtures are as free as JSON
  fixture: any,
  comparison: Comparison,
  engine: Engine,
) => void | Promise<void>;

/**
 * Makes a runner that runs a function on each case of the lists of a fixture, as one
 * check each, within a tolerance.
 */
export function checkEach(
  runs: Readonly<Record<string, FixtureRunner>>,
  tolerance?: number,
): FixtureRunner {
  return async (fixture, comparison, engine) => {
    if (tolerance !== undefined) comparison.tolerance = tolerance;
    for (const [list, run] of Object.entries(runs)) {
      for (const [i, it] of (fixture[list] ?? []).entries()) {
        const name = `${list} ${it.name ?? i}`;
        await comparison.check(name, () => run(it, comparison, engine));
      }
    }
  };
}

/** All numbers in order, however deep they are nested. */
export function flat(expected: Expected): number[] {
  if (Array.isArray(expected)) return expected.flatMap(flat);
  return [Number(expected)];
}

/** Renames the original's statistics of an update to those of Bellman. */
export function ofUpdates<T>(
  named: Readonly<Record<string, T>>,
): Record<string, T> {
  const entries = Object.entries(named)
    .map((
      [name, value],
    ) => [statisticName(name).replace(/^train\//, ""), value]);
  return Object.fromEntries(entries);
}

/** Counts checks and remembers the largest deviation. */
export class Comparison {
  readonly #outcome: Outcome = { passed: 0, failures: [], worst: 0 };
  #problems: string[] | null = null;
  /** Deviation that numbers may have. */
  tolerance = 1e-5;
  /** Whether numbers are taken relative to the largest one that is expected. */
  relative = false;

  /** What has been counted. */
  get outcome(): Outcome {
    return this.#outcome;
  }

  /** One check, that may hold several comparisons. */
  async check(name: string, run: () => void | Promise<void>): Promise<void> {
    this.#problems = [];
    try {
      await run();
    } catch (error) {
      this.#problems.push(`raised ${(error as Error).message}`);
    }
    if (this.#problems.length === 0) this.#outcome.passed++;
    else this.#outcome.failures.push(`${name}: ${this.#problems.join("; ")}`);
    this.#problems = null;
  }

  /** Compares numbers, scaled: the deviation is |a - b| / (1 + |b|). */
  numbers(
    name: string,
    actual: ArrayLike<number> | number,
    expected: Expected,
    { tolerance = this.tolerance, scale = 1 } = {},
  ): void {
    const values = typeof actual === "number" ? [actual] : Array.from(actual);
    const wanted = flat(expected);
    const unit = this.relative ? Math.max(...wanted.map(Math.abs)) || 1 : 1;
    if (values.length !== wanted.length) {
      this.#problem(
        `${name} has ${values.length} numbers, not ${wanted.length}`,
      );
      return;
    }
    let worst = 0;
    for (let i = 0; i < wanted.length; i++) {
      worst = Math.max(
        worst,
        deviation(values[i] * scale / unit, wanted[i] / unit),
      );
    }
    this.#outcome.worst = Math.max(this.#outcome.worst, worst);
    if (!(worst <= tolerance)) {
      this.#problem(`${name} is off by ${worst.toExponential(1)}`);
    }
  }

  /** Compares what was found with the numbers of the fixture that have its names. */
  named(
    found: Readonly<Record<string, ArrayLike<number> | number>>,
    expected: Readonly<Record<string, Expected>>,
  ): void {
    for (const [name, values] of Object.entries(found)) {
      this.numbers(name, values, expected[name] ?? []);
    }
  }

  /** Compares every array of the fixture with that of the same name, by our path. */
  arrays(
    what: string,
    actual: Readonly<Record<string, TensorData | { data: TensorData }>>,
    expected: Readonly<Record<string, Expected>>,
    path = (name: string): string => name,
  ): void {
    for (const [name, values] of Object.entries(expected)) {
      const found = actual[path(name)];
      this.that(`${what} ${name} exists`, found !== undefined);
      if (found === undefined) continue;
      const numbers = "data" in found ? found.data : found;
      this.numbers(`${what} ${name}`, numbers, values);
    }
  }

  /** Compares anything that is right or wrong. */
  that(name: string, holds: boolean): void {
    if (!holds) this.#problem(`${name} does not hold`);
  }

  #problem(line: string): void {
    if (this.#problems === null) throw new Error("compare inside of a check");
    this.#problems.push(line);
  }
}

function deviation(actual: number, expected: number): number {
  if (Object.is(actual, expected) || actual === expected) return 0;
  const off = Math.abs(actual - expected) / (1 + Math.abs(expected));
  return Number.isNaN(off) ? Infinity : off;
}
