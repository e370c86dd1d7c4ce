import { closeSync } from "node:fs";
import type { SearchPlan } from "../../lab/search/plan.ts";
import { SearchRecord, type Trial } from "../../lab/search/record.ts";
import { scoreName } from "../../lab/search/report.ts";
import {
  lookAt,
  MOST_BYTES,
  namesIn,
  openInside,
  problemOf,
  readTextInside,
} from "./inside.ts";
import { lockState } from "./lock_state.ts";
import type { SearchDetails, SearchSummary, SearchTrial } from "./messages.ts";
import { dirOf, fileIn, idOf, type Place } from "./run_entry.ts";

const RECORD = "trials.jsonl";

/** What is shown of a search's plan, which somebody else may have written. */
type ShownPlan =
  & Pick<
    SearchPlan,
    "algorithm" | "environments" | "objective" | "space"
  >
  & { trials: number | null };

/** A search's folder, and what was found in it. */
export class SearchEntry {
  readonly place: Place;
  readonly id: string;
  #stamp: string | undefined;
  #plan: ShownPlan = shownPlan(undefined);
  #trials: readonly Trial[] = [];
  #problem: string | undefined;
  #summary = "";
  #isRunning = false;

  constructor(place: Place) {
    this.place = place;
    this.id = idOf(place);
  }

  /**
   * Looks at the folder again.
   *
   * @returns The summary, where it is another one than before.
   */
  async look(): Promise<SearchSummary | undefined> {
    const dir = dirOf(this.place);
    const stamp = lookAt(dir, RECORD)?.stamp;
    if (stamp !== this.#stamp) this.#readRecord();
    this.#stamp = stamp;
    this.#isRunning = await lockState(dir, "search.lock") === "held";
    const summary = this.#summarize();
    const text = JSON.stringify(summary);
    if (text === this.#summary) return undefined;
    this.#summary = text;
    return summary;
  }

  /** Lists all that is known of it. */
  details(): SearchDetails {
    const { names } = namesIn(dirOf(this.place));
    const { space } = this.#plan;
    return {
      summary: this.#summarize(),
      scoreName: scoreName(this.#plan as SearchPlan),
      trials: this.#trials.map(shownTrial),
      space: Object.fromEntries(
        Object.entries(space).map(([name, it]) => [
          name,
          it?.kind !== "choice" && it?.log === true,
        ]),
      ),
      importances: importancesOf(this.#trials, Object.keys(space)),
      bestText: names.has("best.yaml") ? this.#text("best.yaml") : null,
      hasReport: names.has("search.html"),
    };
  }

  #text(name: string): string {
    try {
      return readTextInside(fileIn(this.place, name));
    } catch (error) {
      return problemOf(error);
    }
  }

  #readRecord(): void {
    this.#problem = undefined;
    try {
      const inside = fileIn(this.place, RECORD, MOST_BYTES.record);
      const { descriptor: file } = openInside(inside);
      const record = new SearchRecord(RECORD, { isRead: true, file });
      closeSync(file);
      const { begun, damage, trials } = record;
      if (damage !== undefined) this.#problem = `${RECORD}: ${damage}`;
      this.#trials = trials;
      this.#plan = shownPlan(begun?.plan);
    } catch (error) {
      this.#problem = `${RECORD}: ${problemOf(error)}`;
    }
  }

  #summarize(): SearchSummary {
    const { algorithm, environments, trials } = this.#plan;
    const values = this.#trials.flatMap(({ state, value }) =>
      state === "complete" && Number.isFinite(value) ? [value!] : []
    );
    return {
      id: this.id,
      name: this.place.name,
      root: this.place.root,
      isRunning: this.#isRunning,
      algorithm,
      environments,
      trials: this.#trials.length,
      plannedTrials: trials,
      best: values.length === 0
        ? null
        : values.reduce((a, b) => Math.max(a, b)),
      problems: this.#problem === undefined ? [] : [this.#problem],
    };
  }
}

function shownPlan(given: unknown): ShownPlan {
  const { algorithm, environments, objective, space, trials } = Object(given);
  return {
    algorithm: String(algorithm ?? ""),
    environments: Array.isArray(environments) ? environments.map(String) : [],
    objective: objective === "area" ? "area" : "last",
    space: typeof space === "object" && space !== null ? space : {},
    trials: Number.isSafeInteger(trials) ? trials : null,
  };
}

function shownTrial(trial: Trial): SearchTrial {
  const { number, params, state, value, message, evaluations } = trial;
  return {
    number,
    params,
    state,
    value: value ?? evaluations.at(-1)?.at(-1)?.value ?? null,
    message: String(message ?? ""),
    evaluations,
  };
}

/** Fewest complete trials that importances are computed of. */
const FEWEST_TRIALS = 8;
/** Groups that the values of a setting are divided into. */
const GROUPS = 4;

/** Computes the part of the variance of the scores' ranks that each setting explains alone. */
export function importancesOf(
  trials: readonly Trial[],
  names: readonly string[],
): Record<string, number> {
  const complete = trials.filter(({ state, value }) =>
    state === "complete" && Number.isFinite(value)
  );
  if (complete.length < FEWEST_TRIALS) return {};
  const ranks = ranksOf(complete.map(({ value }) => value!));
  return Object.fromEntries(names.map((name) => {
    const values = complete.map(({ params }) => Object(params)[name]);
    return [name, explainedBy(groupsOf(values), ranks)];
  }));
}

/** Ranks numbers; equal ones share the mean of theirs. */
function ranksOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return values.map((it) => (sorted.indexOf(it) + sorted.lastIndexOf(it)) / 2);
}

/** Divides trials by the value of a setting: numbers into groups of about as many. */
function groupsOf(values: readonly unknown[]): unknown[] {
  const distinct = new Set(values).size;
  if (distinct <= GROUPS || !values.every((it) => typeof it === "number")) {
    return values.map((it) => JSON.stringify(it));
  }
  return ranksOf(values as number[])
    .map((rank) => Math.floor(GROUPS * rank / values.length));
}

/** Computes the explained part of the variance, less what chance explains. */
function explainedBy(
  groups: readonly unknown[],
  ranks: readonly number[],
): number {
  const meanOf = (some: readonly number[]) =>
    some.reduce((sum, it) => sum + it, 0) / some.length;
  const byGroup = Map.groupBy(ranks, (_, i) => groups[i]);
  const spread = (some: readonly number[]) => {
    const mean = meanOf(some);
    return some.reduce((sum, it) => sum + (it - mean) ** 2, 0);
  };
  const all = spread(ranks), count = ranks.length;
  if (all === 0 || byGroup.size >= count) return 0;
  const within = [...byGroup.values()].reduce((sum, it) => sum + spread(it), 0);
  const unexplained = within / (count - byGroup.size) * (count - 1) / all;
  return Math.max(0, 1 - unexplained);
}
