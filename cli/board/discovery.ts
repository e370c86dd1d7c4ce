/** Folders of runs, experiments and searches below the roots. */
import { lookAt, namesIn } from "./inside.ts";
import { dirOf, idOf, isRun, type Place } from "./run_entry.ts";
import type { RunSummary } from "./messages.ts";

/** Deepest folder below a root, and most folders and runs that are looked at. */
const MOST_DEPTH = 8, MOST_FOLDERS = 20_000, MOST_RUNS = 10_000;

/** Folders that hold no runs. */
const PASSED_OVER = /^(\.|node_modules$)/;

/** Experiment and search that a folder belongs to. */
type Parents = Pick<RunSummary, "experiment" | "search">;

/** A folder that was found. */
export interface Found {
  kind: "run" | "experiment" | "search";
  id: string;
  place: Place;
  parents: Parents;
}

/** Folders that were found, by id, and lines on those that were not looked at. */
export interface Discovery {
  found: Map<string, Found>;
  notices: string[];
}

/**
 * Looks for runs, experiments and searches. Links to folders are not followed.
 *
 * @param roots Names of the roots, which may not be there yet.
 * @param known Runs whose folders need not be looked at once more.
 */
export function discover(
  roots: readonly string[],
  known: { has(id: string): boolean },
): Discovery {
  const walk = new Walk(known);
  for (const root of roots) {
    const realRoot = realPathOf(root);
    if (realRoot === undefined) continue;
    walk.visit({ root, realRoot, name: "" }, { depth: 0, parents: {} });
  }
  return walk;
}

function realPathOf(root: string): string | undefined {
  try {
    return Deno.realPathSync(root);
  } catch {
    // It may be made later.
    return undefined;
  }
}

class Walk implements Discovery {
  readonly found = new Map<string, Found>();
  readonly notices: string[] = [];
  readonly #known: { has(id: string): boolean };
  #folders = 0;
  #runs = 0;

  constructor(known: { has(id: string): boolean }) {
    this.#known = known;
  }

  visit(
    place: Place,
    { depth, parents }: { depth: number; parents: Parents },
  ): void {
    const id = idOf(place);
    // Roots may lie in each other.
    if (this.found.has(id)) return;
    const dir = dirOf(place);
    if (this.#known.has(id) && lookAt(dir, ".") !== undefined) {
      this.#add({ kind: "run", id, place, parents });
      return;
    }
    if (++this.#folders > MOST_FOLDERS || depth > MOST_DEPTH) {
      this.#notice(
        depth > MOST_DEPTH
          ? `Folders more than ${MOST_DEPTH} levels below ${place.root} are not shown`
          : `No more than ${MOST_FOLDERS} folders are looked at`,
      );
      return;
    }
    const { names, folders } = namesIn(dir);
    if (isRun(names)) {
      this.#add({ kind: "run", id, place, parents });
      return;
    }
    const own = this.#group(names, { id, place, parents });
    for (const name of folders) {
      if (PASSED_OVER.test(name)) continue;
      const inner = place.name === "" ? name : `${place.name}/${name}`;
      this.visit({ ...place, name: inner }, { depth: depth + 1, parents: own });
    }
  }

  /** Adds an experiment or a search, and returns the parents of what lies in it. */
  #group(
    names: ReadonlySet<string>,
    { id, place, parents }: Omit<Found, "kind">,
  ): Parents {
    if (names.has("trials.jsonl")) {
      this.found.set(id, { kind: "search", id, place, parents });
      return { ...parents, search: id };
    }
    if (names.has("plan.yaml") && names.has("runs")) {
      this.found.set(id, { kind: "experiment", id, place, parents });
      return { ...parents, experiment: id };
    }
    return parents;
  }

  #add(found: Found): void {
    if (++this.#runs <= MOST_RUNS) this.found.set(found.id, found);
    else this.#notice(`No more than ${MOST_RUNS} runs are shown`);
  }

  #notice(line: string): void {
    if (!this.notices.includes(line)) this.notices.push(line);
  }
}
