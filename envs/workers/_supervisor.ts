import { HostFailure, nameGroup, startError, timed } from "./host_failure.ts";
import { describeSpace, spacesEqual } from "../spaces/values.ts";
import { deriveSeed } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import type {
  EnvParameters,
  EpisodeStatistics,
  StateTree,
} from "@bellman/types";
import type {
  GroupAnswer,
  GroupCommand,
  WorkerBackend,
} from "./group_hosts.ts";
import { type HostOptions, Restarts } from "./restarts.ts";

type Opened = NonNullable<GroupAnswer["opened"]>;

/** Failures by the number of the group. */
export type Failures = ReadonlyMap<number, HostFailure>;

const NONE: Failures = new Map();
const NO_EPISODES: readonly EpisodeStatistics[] = [];

/** Usual delay of the end of a wait, in milliseconds. */
const LATE_MS = 1_000;

/**
 * Waits until groups are ready or silent for a time: again where this process itself
 * stood still meanwhile, as when it or its machine is stopped, and nobody could have
 * answered.
 */
export function waitForAll(
  hosts: WorkerBackend,
  groups: readonly number[],
  timeoutMs: number,
): void {
  for (;;) {
    const since = performance.now();
    if (hosts.waitFor(groups, timeoutMs)) return;
    if (performance.now() - since - timeoutMs <= LATE_MS) return;
  }
}

/** The hosts of all groups, each replaced when it fails, within bounds. */
export class Supervisor {
  readonly hosts: WorkerBackend;
  readonly restarts: Restarts;
  /** Last answers of the groups. */
  readonly answers: GroupAnswer[] = [];
  /** Seeds of the environments, once there are some. */
  seeds: readonly number[] | undefined;
  /** Parameters of the episodes that begin later, where some are set. */
  parameters: EnvParameters | undefined;
  /** Replacements of each group since its environments were seeded. */
  #replaced: Int32Array;
  /** True where what is replaced begins with the same seeds again. */
  #keepsSeeds = false;
  /**
   * True where the hosts record episodes: one that fails in a step cannot say
   * so.
   */
  #recordsEpisodes = false;
  #opened: Opened | undefined;
  /** Failure of a host that was reopened since. */
  #reopened: HostFailure | undefined;

  constructor(hosts: WorkerBackend, options: HostOptions) {
    this.hosts = hosts;
    this.restarts = new Restarts(options);
    this.#replaced = new Int32Array(hosts.groups.length);
  }

  /** Starts all hosts; where that fails they are still to be closed. */
  open(): Opened {
    const groups = [...this.hosts.groups.keys()];
    for (const group of groups) this.#start(group);
    for (const [group, failure] of this.#awaitOpened(groups)) {
      throw startError(this.#name(group), failure);
    }
    return this.#opened!;
  }

  /** Waits for the commands of groups; their answers are in `answers`. */
  collect(
    groups: readonly number[],
    timeoutMs: number = this.restarts.stepTimeoutMs,
  ): Failures {
    waitForAll(this.hosts, groups, timeoutMs);
    let failures: Map<number, HostFailure> | undefined;
    for (const group of groups) {
      try {
        this.answers[group] = this.hosts.finish(group);
      } catch (error) {
        if (!(error instanceof HostFailure)) throw error;
        failures ??= new Map();
        failures.set(group, timed(error, timeoutMs));
      }
    }
    return failures ?? NONE;
  }

  /**
   * Replaces the hosts that failed, until each has started
   * its episodes: with the seeds that are given, or with fresh ones.
   */
  replace(failures: Failures, seeds?: readonly number[]): void {
    let waiting = failures;
    for (let inRow = 0; waiting.size > 0; inRow++) {
      const restarted = [...waiting].filter(([group, failure]) => {
        if (failure === this.#reopened) return false;
        this.#restart(group, failure, inRow);
        return true;
      });
      const unopened = this.#awaitOpened(restarted.map(([group]) => group));
      const opened = [...waiting.keys()].filter((it) => !unopened.has(it));
      for (const group of opened) this.beginReset(group, seeds);
      waiting = new Map([...unopened, ...this.collect(opened)]);
    }
  }

  /** Replaces a host that failed ahead of its episodes, which `replace` starts. */
  reopen(group: number, failure: HostFailure): void {
    if (failure === this.#reopened) return;
    let waiting: Failures = new Map([[group, failure]]);
    for (let inRow = 0; waiting.size > 0; inRow++) {
      this.#restart(group, waiting.get(group)!, inRow);
      waiting = this.#awaitOpened([group]);
    }
    this.#reopened = failure;
  }

  /** Starts the episodes of a group with its part of the seeds. */
  beginReset(group: number, seeds?: readonly number[]): void {
    const { first, numEnvs } = this.hosts.groups[group];
    const from = seeds ?? this.seeds;
    const own = from?.slice(first, first + numEnvs);
    const replaced = this.#replaced[group];
    this.hosts.begin(group, {
      type: "reset",
      // What is replaced does not live through the same episodes again, unless
      // it is to.
      seeds: seeds || this.#keepsSeeds
        ? own
        : own?.map((seed) => deriveSeed(seed, replaced)),
      parameters: this.parameters,
    });
  }

  /** Lists the episodes that ended in groups, where their hosts record them. */
  episodesOf(
    groups: readonly number[],
    failures: Failures,
  ): readonly EpisodeStatistics[] | undefined {
    let all: readonly EpisodeStatistics[] | undefined;
    if (this.#recordsEpisodes) all = NO_EPISODES;
    for (const group of groups) {
      const { episodes } = this.answers[group] ?? {};
      if (failures.has(group) || episodes === undefined) continue;
      this.#recordsEpisodes = true;
      all ??= NO_EPISODES;
      if (episodes.length === 0) continue;
      const { first } = this.hosts.groups[group];
      all = [...all, ...episodes.map((it) => ({ ...it, env: it.env + first }))];
    }
    return all;
  }

  /** Sets new seeds; with `keepsSeeds`, hosts that replace others begin with them. */
  seed(seeds: readonly number[], keepsSeeds: boolean): void {
    this.#keepsSeeds = keepsSeeds;
    this.seeds = [...seeds];
    this.#replaced.fill(0);
  }

  /**
   * Restores the states of groups, except those that have none. A host that dies
   * over it is replaced and restored again; one that stays silent would do so again,
   * and is `lost`.
   */
  loadGroups(
    states: readonly ({ state: StateTree } | null)[],
    lost: Map<number, HostFailure>,
  ): void {
    let waiting = [...states.keys()].filter((group) => states[group] !== null);
    while (waiting.length > 0) {
      let patience = 1;
      for (const group of waiting) {
        const snapshot = states[group]!.state;
        const command: GroupCommand = { type: "load", snapshot };
        this.hosts.begin(group, command);
        const own = this.hosts.patience?.(group, command) ?? 1;
        patience = Math.max(patience, own);
      }
      const timeoutMs = patience * this.restarts.stepTimeoutMs;
      const failures = this.collect(waiting, timeoutMs);
      const dead = new Map<number, HostFailure>();
      for (const [group, failure] of withoutErrors(failures)) {
        (failure.reason === "timeout" ? lost : dead).set(group, failure);
      }
      this.replace(dead);
      throwErrors(failures);
      waiting = [...dead.keys()];
    }
  }

  save(): StateTree {
    return {
      seeds: this.seeds ? Float64Array.from(this.seeds) : null,
      replaced: this.#replaced.slice(),
    };
  }

  load(state: StateTree): void {
    const { seeds, replaced } = snapshotRecord(state, ["seeds", "replaced"]);
    this.seeds = seeds === null ? undefined : [...seeds as Float64Array];
    this.#replaced.set(replaced as Int32Array);
  }

  #name(group: number): string {
    const name = nameGroup(this.hosts.groups[group]);
    const id = this.#opened?.spec?.id;
    return id === undefined ? name : `${name} of ${id}`;
  }

  #start(group: number): void {
    this.hosts.start(group);
    this.hosts.begin(group, { type: "open" });
  }

  /** Restarts a host that has just failed a number of times in a row. */
  #restart(group: number, error: HostFailure, inRow: number): void {
    this.restarts.note(group, { name: this.#name(group), error, inRow });
    this.#replaced[group]++;
    this.#start(group);
  }

  /** Waits until hosts have made their environments, and compares those. */
  #awaitOpened(groups: readonly number[]): Failures {
    const failures = new Map(
      this.collect(groups, this.restarts.startTimeoutMs),
    );
    for (const group of groups) {
      if (failures.has(group)) continue;
      const opened = this.answers[group].opened!;
      const problem = difference(opened, this.#opened ??= opened);
      if (problem === undefined) continue;
      failures.set(group, new HostFailure("error", problem));
    }
    return failures;
  }
}

/** Throws what a host threw: its environments are still there. */
export function throwErrors(failures: Failures): void {
  for (const failure of failures.values()) {
    if (failure.reason === "error") throw failure.toThrow();
  }
}

/**
 * Returns the failures but for errors that environments threw: their hosts are
 * gone.
 */
export function withoutErrors(failures: Failures): Map<number, HostFailure> {
  return new Map([...failures].filter(([, it]) => it.reason !== "error"));
}

/** Describes a difference of the spaces of a host from those of the others. */
function difference(one: Opened, other: Opened): string | undefined {
  if (!one.masksActions !== !other.masksActions) {
    const [own, others] = one.masksActions
      ? ["some", "none"]
      : ["none", "some"];
    return `it masks ${own} of its actions, other environments ${others}`;
  }
  const goals = ({ goalFunctions = [] }: Opened) =>
    goalFunctions.join(" and ") || "no function of goals";
  if (goals(one) !== goals(other)) {
    return `it has ${goals(one)}, other environments ${goals(other)}`;
  }
  for (const name of ["observationSpace", "actionSpace"] as const) {
    if (spacesEqual(one[name], other[name])) continue;
    const what = name === "actionSpace" ? "actions" : "observations";
    return `its ${what} are ${
      describeSpace(one[name])
    }, those of other environments ${describeSpace(other[name])}`;
  }
}
