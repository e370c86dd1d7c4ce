import type { VecEnv } from "@bellman/types";
import { GroupRunner } from "../_group_runner.ts";
import type {
  EnvSlice,
  GroupAnswer,
  GroupArrays,
  GroupCommand,
  WorkerBackend,
} from "../group_hosts.ts";
import { type CheckedSource, makeGroup } from "../group_source.ts";
import { HostFailure, sendableError, thrownFailure } from "../host_failure.ts";
import { type HostCommand, Spinner } from "./_worker_messages.ts";
import { serveWorker } from "./serve_worker.ts";
import {
  awaitThat,
  endThreads,
  type Launcher,
  ThreadLauncher,
  WorkerThread,
} from "./worker_thread.ts";

/** A group that the calling thread hosts itself, while it would only wait. */
class LocalSlot {
  readonly hasEnded = true;
  readonly pid = 0;
  #make: () => VecEnv;
  #first: number;
  #runner: GroupRunner | undefined;
  #arrays: GroupArrays | undefined;
  #command: GroupCommand | undefined;
  #result: GroupAnswer | HostFailure | undefined;

  /**
   * @param make Makes the environments.
   * @param first Number of the first of them among all groups.
   */
  constructor(make: () => VecEnv, first: number) {
    this.#make = make;
    this.#first = first;
  }

  get isReady(): boolean {
    return this.#command === undefined;
  }

  attach(arrays: GroupArrays): void {
    this.#arrays = arrays;
    this.#runner?.attach(arrays);
  }

  begin(command: GroupCommand): void {
    this.#command = command;
  }

  /** Carries out the command, if that is not done. */
  run(): void {
    const command = this.#command;
    if (command === undefined) return;
    this.#command = undefined;
    try {
      const runner = this.#runner ??= this.#open();
      this.#result = runner.run(command);
      runner.write();
    } catch (error) {
      this.#result = thrownFailure(sendableError(error));
    }
  }

  finish(): GroupAnswer {
    this.run();
    if (this.#result instanceof HostFailure) throw this.#result;
    return this.#result!;
  }

  #open(): GroupRunner {
    const runner = new GroupRunner(this.#make(), this.#first);
    if (this.#arrays !== undefined) runner.attach(this.#arrays);
    return runner;
  }

  /** Forgets the environments; those of the next command are new. */
  drop(): void {
    try {
      this.#runner?.close();
    } catch {
      // It is broken; what it does at its end is of no interest.
    }
    this.#runner = undefined;
  }
}

/** Environments of a worker. */
interface WorkerGroup {
  readonly source: CheckedSource;
  readonly range: EnvSlice;
  /** Arrays of the group, where they are allocated by now. */
  readonly arrays: GroupArrays | undefined;
}

/** Hosts a group in a worker, which runs this very module. */
export function main(): void {
  serveWorker<WorkerGroup>(async ({ source, range, arrays }) => {
    const runner = new GroupRunner(await makeGroup(source, range), range.first);
    if (arrays !== undefined) runner.attach(arrays);
    return runner;
  });
}

/** Hosts and the groups that they get. */
interface WorkerHostsOptions {
  readonly groups: readonly EnvSlice[];
  /**
   * Starts the hosts.
   *
   * @default a thread of this module for each
   */
  readonly launcher?: Launcher;
  /** Data of each host, which also gets its `range` and `arrays`. */
  readonly data: object;
  /** Makes the environments of the last group in this thread. */
  readonly makeLocal?: () => VecEnv;
}

/** Groups in workers or processes, and the last one perhaps in the calling thread. */
export class WorkerHosts implements WorkerBackend {
  readonly groups: readonly EnvSlice[];
  readonly #data: object;
  readonly #launcher: Launcher;
  #slots: (WorkerThread | LocalSlot)[] = [];
  #local: LocalSlot | undefined;
  #arrays: readonly GroupArrays[] | undefined;
  #spinner = new Spinner();
  #isClosed = false;
  readonly #atUnload = (): void => this.close();

  constructor(
    {
      groups,
      data,
      makeLocal,
      launcher = new ThreadLauncher(import.meta.url),
    }: WorkerHostsOptions,
  ) {
    this.groups = groups;
    this.#data = data;
    this.#launcher = launcher;
    // A process that hangs would not see that its input has ended.
    if (launcher.patienceMs > 0) addEventListener("unload", this.#atUnload);
    if (makeLocal === undefined) return;
    const last = groups.length - 1, { first } = groups[last];
    this.#slots[last] = this.#local = new LocalSlot(makeLocal, first);
  }

  /** Lists the processes of the hosts; 0 for one that is being started. */
  pids(): number[] {
    return this.#slots.map((it) => it.pid);
  }

  start(group: number): void {
    if (this.#isClosed) {
      throw new TypeError(
        "Cannot start a worker as its environments were closed",
      );
    }
    const before = this.#slots[group], launcher = this.#launcher;
    before?.drop();
    if (before instanceof LocalSlot) return;
    const { events, patienceMs } = launcher;
    if (before) awaitThat(() => before.hasEnded, events, patienceMs);
    const range = this.groups[group], arrays = this.#arrays?.[group];
    const data = { ...this.#data, range, arrays, group };
    this.#slots[group] = new WorkerThread(launcher, { data });
  }

  attach(arrays: readonly GroupArrays[]): void {
    this.#arrays = arrays;
    arrays.forEach((it, group) => this.#slots[group].attach(it));
  }

  begin(group: number, command: HostCommand): void {
    this.#slots[group].begin(command as GroupCommand);
  }

  waitFor(groups: readonly number[], timeoutMs: number): boolean {
    let deadline: number | undefined;
    const { events } = this.#launcher;
    for (;;) {
      const seen = Atomics.load(events, 0);
      this.#launcher.serve?.();
      if (this.#areReady(groups)) return true;
      // Its share is done while the workers do theirs.
      if (this.#runLocal(groups)) continue;
      deadline ??= performance.now() + timeoutMs;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      this.#spinner.wait(events, 0, { value: seen, timeoutMs: left });
    }
  }

  finish(group: number): GroupAnswer {
    return this.#slots[group].finish();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const launcher = this.#launcher;
    if (launcher.patienceMs > 0) removeEventListener("unload", this.#atUnload);
    endThreads(this.#slots, launcher);
    launcher.close();
  }

  #areReady(groups: readonly number[]): boolean {
    for (const group of groups) {
      if (!this.#slots[group].isReady) return false;
    }
    return true;
  }

  #runLocal(groups: readonly number[]): boolean {
    const local = this.#local;
    if (local === undefined || local.isReady) return false;
    if (!groups.includes(this.groups.length - 1)) return false;
    local.run();
    return true;
  }
}
