import {
  describeRestart,
  firstLine,
  HostFailure,
  nameCopies,
  type RestartEvent,
} from "./host_failure.ts";
import { describeSpace, spacesEqual } from "../spaces/values.ts";
import { EnvDataError } from "../env_data_error.ts";
import { printToStderr } from "./_print_to_stderr.ts";
import { deriveSeed } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import type { EpisodeStatistics, StateTree } from "@bellman/types";
import { checkCount, waitForAll } from "./_timeouts.ts";
import type { GroupAnswer, GroupCommand, GroupHosts } from "./group_hosts.ts";

/** Handling of hosts of a {@linkcode HostedVecEnv} that fail. */
export interface HostedVecEnvOptions {
  /**
   * Time for a host to carry out a command, in milliseconds; where a restore
   * plays episodes again, that long for each action.
   *
   * @default 60_000
   */
  stepTimeoutMs?: number;
  /**
   * Time for a host to start and to make its environments, in milliseconds.
   *
   * @default 120_000
   */
  startTimeoutMs?: number;
  /**
   * Restarts of a group that are allowed within the window.
   *
   * @default 10
   */
  restarts?: number;
  /**
   * The window, in milliseconds.
   *
   * @default 600_000
   */
  windowMs?: number;
  /**
   * True to let `recv` continue while hosts that replace others start: see
   * {@linkcode HostedVecEnv.present}.
   *
   * @default false
   */
  replacesAside?: boolean;
  /**
   * Callback that reports a restart, before it is done. If it throws, the environment
   * is broken: this call and all later ones throw that error.
   *
   * @default a function that prints a line to stderr, and where the host threw
   */
  onRestart?: (event: RestartEvent) => void;
}

type Opened = NonNullable<GroupAnswer["opened"]>;

/** Failures by the number of the group. */
export type Failures = ReadonlyMap<number, HostFailure>;

/** A host that starts to replace one that failed. */
interface Coming {
  /** True where it has made its environments. */
  readonly isOpen: boolean;
  /** Until when it may take. */
  readonly until: number;
  /** Hosts of the group that failed in a row while they started. */
  readonly times: number;
}

const NONE: Failures = new Map();
const NO_EPISODES: readonly EpisodeStatistics[] = [];

function warn(event: RestartEvent): void {
  const line = `Warning: ${describeRestart(event)}\n`;
  printToStderr(new TextEncoder().encode(line));
}

/** The hosts of all groups, each replaced when it fails, within bounds. */
export class HostFleet {
  readonly hosts: GroupHosts;
  readonly stepTimeoutMs: number;
  readonly startTimeoutMs: number;
  /** Last answers of the groups. */
  readonly answers: GroupAnswer[] = [];
  /** Error that ended everything, if one did. */
  broken: Error | undefined;
  /** Seeds of the environments, once there are some. */
  seeds: readonly number[] | undefined;
  /** Replacements of each group since its environments were seeded. */
  #replaced: Int32Array;
  /** True where what is replaced begins with the same seeds again. */
  #keepsSeeds = false;
  /**
   * True where the hosts record episodes: one that fails in a step cannot say
   * so.
   */
  #tellEpisodes = false;
  /** Hosts that are starting, by the numbers of their groups. */
  readonly #coming = new Map<number, Coming>();
  /** Times of the restarts of each group within the window. */
  #restarts: number[][];
  #limit: number;
  #windowMs: number;
  #onRestart: (event: RestartEvent) => void;
  #opened: Opened | undefined;

  constructor(hosts: GroupHosts, options: HostedVecEnvOptions) {
    const { stepTimeoutMs = 60_000, startTimeoutMs = 120_000 } = options;
    const { restarts = 10, windowMs = 600_000, onRestart = warn } = options;
    checkCount("stepTimeoutMs", stepTimeoutMs, 1);
    checkCount("startTimeoutMs", startTimeoutMs, 1);
    checkCount("restarts", restarts, 0);
    checkCount("windowMs", windowMs, 1);
    this.hosts = hosts;
    this.stepTimeoutMs = stepTimeoutMs;
    this.startTimeoutMs = startTimeoutMs;
    this.#onRestart = onRestart;
    this.#replaced = new Int32Array(hosts.groups.length);
    this.#restarts = hosts.groups.map(() => []);
    this.#limit = restarts;
    this.#windowMs = windowMs;
  }

  /** Starts all hosts; where that fails they are still to be closed. */
  open(): Opened {
    const groups = [...this.hosts.groups.keys()];
    for (const group of groups) this.#start(group);
    for (const [group, failure] of this.#awaitOpened(groups)) {
      throw this.#unstarted(group, failure);
    }
    return this.#opened!;
  }

  #unstarted(group: number, failure: HostFailure): Error {
    const { reason, message, what } = failure, error = failure.toThrow();
    const why = firstLine(reason === "error" ? message : what);
    error.message = `Cannot start ${this.#name(group)}: ${why}`;
    return error;
  }

  /** Waits for the commands of groups; their answers are in `answers`. */
  collect(groups: readonly number[], timeoutMs: number): Failures {
    waitForAll(this.hosts, groups, timeoutMs);
    return this.finish(groups, timeoutMs);
  }

  /** Takes the answers of groups; one that has none yet has failed. */
  finish(groups: readonly number[], timeoutMs: number): Failures {
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
    for (let times = 0; waiting.size > 0; times++) {
      for (const [group, failure] of waiting) {
        this.#restart(group, failure, times);
      }
      const groups = [...waiting.keys()];
      const unopened = this.#awaitOpened(groups);
      const opened = groups.filter((group) => !unopened.has(group));
      for (const group of opened) this.beginReset(group, seeds);
      const unset = this.collect(opened, this.stepTimeoutMs);
      waiting = new Map([...unopened, ...unset]);
    }
  }

  /** Groups whose hosts are starting. */
  get coming(): readonly number[] {
    return [...this.#coming.keys()];
  }

  /** Does the same without waiting: {@linkcode HostFleet.takeIn} continues it. */
  replaceAside(failures: Failures): void {
    for (const [group, failure] of failures) this.#launch(group, failure, 0);
  }

  /** Starts a host, after so many in a row that failed. */
  #launch(group: number, failure: HostFailure, times: number): void {
    this.#restart(group, failure, times);
    const until = performance.now() + this.startTimeoutMs;
    this.#coming.set(group, { isOpen: false, until, times });
  }

  /**
   * Follows the hosts that are starting, and returns the groups of those that
   * have started their episodes.
   *
   * @param waits True to wait until one has done something.
   */
  takeIn({ waits }: { waits: boolean }): readonly number[] {
    const groups = this.coming, all = [...this.#coming.values()];
    const now = performance.now(),
      until = Math.min(...all.map((it) => it.until));
    const ready = new Set(this.hosts.waitFor(groups, {
      count: waits ? 1 : 0,
      timeoutMs: waits ? Math.max(0, until - now) : 0,
    }));
    const isDue = (group: number) =>
      ready.has(group) || this.#coming.get(group)!.until <= performance.now();
    return groups.filter((group) => isDue(group) && this.#isThere(group));
  }

  /** Takes the next step of a host that is starting; true where that was the last one. */
  #isThere(group: number): boolean {
    const { isOpen, times } = this.#coming.get(group)!;
    const { stepTimeoutMs, startTimeoutMs } = this;
    const failure = isOpen
      ? this.finish([group], stepTimeoutMs).get(group)
      : this.#compared([group], this.finish([group], startTimeoutMs)).get(
        group,
      );
    this.#coming.delete(group);
    if (failure !== undefined) this.#launch(group, failure, times + 1);
    else if (!isOpen) {
      this.beginReset(group);
      const until = performance.now() + stepTimeoutMs;
      this.#coming.set(group, { isOpen: true, until, times });
    }
    return !this.#coming.has(group);
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
    });
  }

  /** Lists the episodes that ended in groups, where their hosts record them. */
  episodesOf(
    groups: readonly number[],
    failures: Failures,
  ): readonly EpisodeStatistics[] | undefined {
    let all: readonly EpisodeStatistics[] | undefined = this.#tellEpisodes
      ? NO_EPISODES
      : undefined;
    for (const group of groups) {
      if (failures.has(group)) continue;
      const { episodes } = this.answers[group];
      if (episodes === undefined) continue;
      this.#tellEpisodes = true;
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
      const failures = this.#restoreOnce(waiting, states);
      const dead = new Map<number, HostFailure>();
      for (const [group, failure] of withoutErrors(failures)) {
        (failure.reason === "timeout" ? lost : dead).set(group, failure);
      }
      this.replace(dead);
      throwErrors(failures);
      waiting = [...dead.keys()];
    }
  }

  #restoreOnce(
    groups: readonly number[],
    states: readonly ({ state: StateTree } | null)[],
  ): Failures {
    let patience = 1;
    for (const group of groups) {
      const snapshot = states[group]!.state;
      const command: GroupCommand = { type: "load", snapshot };
      this.hosts.begin(group, command);
      const own = this.hosts.patience?.(group, command) ?? 1;
      patience = Math.max(patience, own);
    }
    return this.collect(groups, patience * this.stepTimeoutMs);
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
    const name = nameCopies(this.hosts.groups[group]);
    const id = this.#opened?.spec?.id;
    return id === undefined ? name : `${name} of ${id}`;
  }

  #start(group: number): void {
    this.hosts.start(group);
    this.hosts.begin(group, { type: "open" });
  }

  /** Restarts a host that has just failed a number of times in a row. */
  #restart(group: number, error: HostFailure, times: number): void {
    // Another one would return the same again: the environment itself is wrong.
    if (error.thrown === EnvDataError.name) throw this.broken = error.toThrow();
    const now = performance.now(), windowMs = this.#windowMs;
    const recent = this.#restarts[group].filter((it) => now - it < windowMs);
    const limit = this.#limit;
    // Starts that take long may each be alone in their window.
    const isInRow = times === limit;
    if (isInRow || recent.length >= limit) {
      throw this.broken = new Error(
        `Cannot go on with ${
          this.#name(group)
        }: it was restarted ${limit} times ${
          isInRow ? "in a row" : `within ${windowMs / 1000} s`
        }, and now ${firstLine(error.what)}`,
        { cause: error },
      );
    }
    this.#restarts[group] = [...recent, now];
    this.#replaced[group]++;
    this.#tell({
      group,
      copies: this.hosts.groups[group],
      error,
      output: this.hosts.output(group),
      restarts: recent.length + 1,
      limit,
      windowMs,
    });
    this.#start(group);
  }

  /** Reports a restart to `onRestart`, which throws to stop instead. */
  #tell(event: RestartEvent): void {
    try {
      this.#onRestart(event);
    } catch (error) {
      throw this.broken = error as Error;
    }
  }

  /** Waits until hosts have made their environments, and compares those. */
  #awaitOpened(groups: readonly number[]): Failures {
    const unopened = this.collect(groups, this.startTimeoutMs);
    return this.#compared(groups, unopened);
  }

  /** Adds those whose environments differ from the others to groups that failed. */
  #compared(groups: readonly number[], unopened: Failures): Failures {
    const failures = new Map(unopened);
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

function timed(failure: HostFailure, timeoutMs: number): HostFailure {
  return failure.reason === "timeout"
    ? new HostFailure(
      "timeout",
      `it gave no answer within ${timeoutMs} ms`,
      failure,
    )
    : failure;
}

/** Describes a difference of the spaces of a host from those of the others. */
function difference(one: Opened, other: Opened): string | undefined {
  for (const name of ["observationSpace", "actionSpace"] as const) {
    if (spacesEqual(one[name], other[name])) continue;
    const what = name === "actionSpace" ? "actions" : "observations";
    return `its ${what} are ${
      describeSpace(one[name])
    }, those of other copies ${describeSpace(other[name])}`;
  }
}
