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
import { Spinner } from "./_worker_messages.ts";
import { serveWorker } from "./serve_worker.ts";
import { endThreads, WorkerThread } from "./worker_thread.ts";

/** A group that the calling thread hosts itself, while it would only wait. */
class LocalSlot {
  readonly hasEnded = true;
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

/** Environments of the workers. */
interface WorkerHostsOptions {
  readonly source: CheckedSource;
  readonly groups: readonly EnvSlice[];
  /** Makes the environments of the last group in this thread. */
  readonly makeLocal?: () => VecEnv;
}

/** Groups in workers, and the last one perhaps in the calling thread. */
export class WorkerHosts implements WorkerBackend {
  readonly groups: readonly EnvSlice[];
  #source: CheckedSource;
  #events = new Int32Array(new SharedArrayBuffer(4));
  #slots: (WorkerThread | LocalSlot)[] = [];
  #local: LocalSlot | undefined;
  #arrays: readonly GroupArrays[] | undefined;
  #spinner = new Spinner();
  #isClosed = false;

  constructor({ source, groups, makeLocal }: WorkerHostsOptions) {
    this.groups = groups;
    this.#source = source;
    if (makeLocal === undefined) return;
    const last = groups.length - 1, { first } = groups[last];
    this.#slots[last] = this.#local = new LocalSlot(makeLocal, first);
  }

  start(group: number): void {
    if (this.#isClosed) {
      throw new TypeError(
        "Cannot start a worker as its environments were closed",
      );
    }
    const before = this.#slots[group];
    before?.drop();
    if (before instanceof LocalSlot) return;
    const data: WorkerGroup = {
      source: this.#source,
      range: this.groups[group],
      arrays: this.#arrays?.[group],
    };
    const { url } = import.meta, events = this.#events;
    this.#slots[group] = new WorkerThread(url, { data, events });
  }

  attach(arrays: readonly GroupArrays[]): void {
    this.#arrays = arrays;
    arrays.forEach((it, group) => this.#slots[group].attach(it));
  }

  begin(group: number, command: GroupCommand): void {
    this.#slots[group].begin(command);
  }

  waitFor(groups: readonly number[], timeoutMs: number): boolean {
    let deadline: number | undefined;
    for (;;) {
      const seen = Atomics.load(this.#events, 0);
      if (this.#areReady(groups)) return true;
      // Its share is done while the workers do theirs.
      if (this.#runLocal(groups)) continue;
      deadline ??= performance.now() + timeoutMs;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      this.#spinner.wait(this.#events, 0, { value: seen, timeoutMs: left });
    }
  }

  finish(group: number): GroupAnswer {
    return this.#slots[group].finish();
  }

  close(): void {
    this.#isClosed = true;
    endThreads(this.#slots, this.#events);
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
