import { checkStartable } from "../_process/check_startable.ts";
import type { VecEnv } from "@bellman/types";
import type { CheckedSource } from "./_check_source.ts";
import type {
  GroupAnswer,
  GroupArrays,
  GroupCommand,
  GroupHosts,
  GroupRange,
} from "./group_hosts.ts";
import { LocalSlot } from "./_local_slot.ts";
import { Spinner } from "./_spinner.ts";
import { MAIN, WorkerSlot } from "./_worker_slot.ts";

/** How long workers may take to close their environments. */
const GRACE_MS = 2_000;

/** What workers host. */
export interface WorkerHostsOptions {
  readonly source: CheckedSource;
  readonly groups: readonly GroupRange[];
  /** How often a thread looks before it goes to sleep. */
  readonly spins: number;
  /** Makes the copies of the last group in this thread. */
  readonly makeLocal?: () => VecEnv;
}

/** Groups in workers, and the last one perhaps in the calling thread. */
export class WorkerHosts implements GroupHosts {
  readonly groups: readonly GroupRange[];
  /** When each group was asked what it was asked last, in commands. */
  #begun: number[] = [];
  #commands = 0;
  #options: WorkerHostsOptions;
  #events = new Int32Array(new SharedArrayBuffer(4));
  #slots: WorkerSlot[] = [];
  #local: LocalSlot | undefined;
  #arrays: readonly GroupArrays[] | undefined;
  #spinner: Spinner;
  #isClosed = false;
  /** Those that are ready; reused. */
  #ready: number[] = [];

  constructor(options: WorkerHostsOptions) {
    checkStartable(MAIN);
    this.groups = options.groups;
    this.#options = options;
    this.#spinner = new Spinner(options.spins);
    const { makeLocal } = options;
    if (makeLocal === undefined) return;
    this.#local = new LocalSlot(makeLocal, options.groups.at(-1)!.first);
  }

  start(group: number): void {
    if (this.#isClosed) {
      throw new TypeError("Cannot start a worker as its copies were closed");
    }
    if (this.#isLocal(group)) return this.#local!.start();
    this.#slots[group]?.drop();
    const { source, spins } = this.#options;
    this.#slots[group] = new WorkerSlot({
      source,
      range: this.groups[group],
      events: this.#events,
      arrays: this.#arrays?.[group],
      spins,
    });
  }

  attach(arrays: readonly GroupArrays[]): void {
    this.#arrays = arrays;
    arrays.forEach((it, group) => this.#slotOf(group).attach(it));
  }

  begin(group: number, command: GroupCommand): void {
    this.#begun[group] = this.#commands++;
    this.#slotOf(group).begin(command);
  }

  waitFor(
    groups: readonly number[],
    { count, timeoutMs }: { count: number; timeoutMs: number },
  ): readonly number[] {
    let deadline: number | undefined;
    if (count < groups.length && this.#isLocalDue(groups)) {
      this.#runLocal(groups);
    }
    for (;;) {
      const seen = Atomics.load(this.#events, 0);
      const ready = this.#readyOf(groups);
      if (ready.length >= count) return this.#inOrder(ready, count);
      // Its share is done while the workers do theirs.
      if (this.#runLocal(groups)) continue;
      deadline ??= performance.now() + timeoutMs;
      const left = deadline - performance.now();
      if (left <= 0) return this.#inOrder(ready, count);
      this.#spinner.wait(this.#events, 0, { value: seen, timeoutMs: left });
    }
  }

  finish(group: number): GroupAnswer {
    return this.#slotOf(group).finish();
  }

  /** Workers print to where this thread does. */
  output(): string {
    return "";
  }

  close(): void {
    this.#isClosed = true;
    for (const slot of this.#slots) slot.drop();
    this.#local?.close();
    const deadline = performance.now() + GRACE_MS;
    for (;;) {
      const seen = Atomics.load(this.#events, 0);
      const left = deadline - performance.now();
      if (this.#slots.every((slot) => slot.hasEnded) || left <= 0) return;
      Atomics.wait(this.#events, 0, seen, left);
    }
  }

  #isLocal(group: number): boolean {
    return this.#local !== undefined && group === this.groups.length - 1;
  }

  #slotOf(group: number): WorkerSlot | LocalSlot {
    return this.#isLocal(group) ? this.#local! : this.#slots[group];
  }

  #readyOf(groups: readonly number[]): number[] {
    this.#ready.length = 0;
    for (const group of groups) {
      if (this.#slotOf(group).isReady) this.#ready.push(group);
    }
    return this.#ready;
  }

  /** Whether this thread's own group was asked before all that are ready. */
  #isLocalDue(groups: readonly number[]): boolean {
    const asked = this.#begun[this.groups.length - 1];
    return this.#readyOf(groups).every((group) => this.#begun[group] > asked);
  }

  #runLocal(groups: readonly number[]): boolean {
    const local = this.#local;
    if (local === undefined || local.isReady) return false;
    if (!groups.includes(this.groups.length - 1)) return false;
    local.run();
    local.readyAt = Atomics.load(this.#events, 0);
    return true;
  }

  #inOrder(ready: number[], count: number): readonly number[] {
    // Who waits for all takes them in any order.
    if (count === this.groups.length) return ready;
    const at = (group: number): number => this.#slotOf(group).readyAt;
    // The counter may have gone over its end between two of them.
    return ready.sort((a, b) => (at(a) - at(b)) | 0);
  }
}
