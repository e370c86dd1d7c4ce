import type { CellResult } from "./cells.ts";
import type { Plan } from "./plan.ts";
import type { KnownScale } from "./scales.ts";

/** Policy of a run: final, or of its best checkpoint. */
export type Which = "last" | "best";

/** Scores of a variant, with their seeds. */
export interface Scored {
  variant: string;
  environments: readonly string[];
  seeds: readonly number[];
  /** Scores, `[seeds][environments]`. */
  scores: number[][];
}

/** Results of all cells of a plan, by variant, environment and seed. */
export class Results {
  readonly plan: Plan;
  readonly cells: readonly CellResult[];
  readonly #byName: ReadonlyMap<string, CellResult>;

  constructor(plan: Plan, cells: readonly CellResult[]) {
    this.plan = plan;
    this.cells = cells;
    this.#byName = new Map(cells.map((it) => [keyOf(it), it]));
  }

  /** Names of the variants, in the order of the plan. */
  get variants(): string[] {
    return this.plan.variants.map(({ name }) => name);
  }

  /** Environments of a variant. */
  environmentsOf(variant: string): readonly string[] {
    return this.plan.variants.find(({ name }) => name === variant)!
      .environments;
  }

  /** Seeds of a variant. */
  seedsOf(variant: string): readonly number[] {
    return this.plan.variants.find(({ name }) => name === variant)!.seeds;
  }

  /** Finished cells of a variant in an environment, in the order of seeds. */
  finished(variant: string, environment: string): CellResult[] {
    return this.seedsOf(variant)
      .map((seed) => this.#byName.get(keyOf({ variant, environment, seed })))
      .filter((it) => it?.state === "finished") as CellResult[];
  }

  /** Seeds that a variant has finished in all given environments. */
  commonSeeds(variant: string, environments: readonly string[]): number[] {
    return this.seedsOf(variant).filter((seed) =>
      environments.every((environment) =>
        this.#byName.get(keyOf({ variant, environment, seed }))?.state ===
          "finished"
      )
    );
  }

  /** Scores of the seeds that a variant has finished in all given environments. */
  scored(
    variant: string,
    environments: readonly string[],
    { which, scales }: {
      which: Which;
      scales?: ReadonlyMap<string, KnownScale>;
    },
  ): Scored {
    const seeds = this.commonSeeds(variant, environments);
    const scores = seeds.map((seed) =>
      environments.map((environment) => {
        const cell = this.#byName.get(keyOf({ variant, environment, seed }))!;
        const { low, high } = scales?.get(environment) ?? { low: 0, high: 1 };
        return (cell[which]!.meanReturn - low) / (high - low);
      })
    );
    return { variant, environments, seeds, scores };
  }

  /**
   * Describes the number of seeds of a variant: `10`, or `9 of 10 (without seed 3:
   * failed)`.
   */
  countText(variant: string, seeds: number, missing = ""): string {
    const { length } = this.seedsOf(variant);
    const count = seeds === length ? String(length) : `${seeds} of ${length}`;
    return missing === "" ? count : `${count} (${missing})`;
  }

  /** Describes the unfinished seeds of a variant: `without seed 3: failed`. */
  missingText(variant: string, environments: readonly string[]): string {
    const missing = this.seedsOf(variant).flatMap((seed) => {
      const states = environments.map((environment) => ({
        environment,
        state: this.#byName.get(keyOf({ variant, environment, seed }))?.state ??
          "missing",
      })).filter(({ state }) => state !== "finished");
      if (states.length === 0) return [];
      const words = states.map(({ environment, state }) =>
        environments.length === 1 ? state : `${state} on ${environment}`
      );
      return [`${seed}: ${words.join(" and ")}`];
    });
    return missing.length === 0 ? "" : `without seed ${missing.join(", ")}`;
  }
}

function keyOf(
  { variant, environment, seed }: Pick<
    CellResult,
    "variant" | "environment" | "seed"
  >,
): string {
  return JSON.stringify([variant, environment, seed]);
}
