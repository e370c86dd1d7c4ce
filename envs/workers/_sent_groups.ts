import type { GroupHosts } from "./group_hosts.ts";
import { stoodStill } from "./_patience.ts";

/** Groups that were sent actions, and until when each may take. */
export class SentGroups {
  #until = new Map<number, number>();

  /** How many there are. */
  get size(): number {
    return this.#until.size;
  }

  /** Which groups, the earliest first. */
  get groups(): readonly number[] {
    return [...this.#until.keys()];
  }

  has(group: number): boolean {
    return this.#until.has(group);
  }

  add(group: number, timeoutMs: number): void {
    this.#until.set(group, performance.now() + timeoutMs);
  }

  /**
   * Waits until enough groups have answered, were lost, or are overdue; takes
   * those out, the first ones first.
   *
   * @param enough The shortest beginning of a list that is enough, if any is.
   */
  take(
    hosts: GroupHosts,
    { lost, enough }: {
      lost: (group: number) => boolean;
      enough: (groups: readonly number[]) => readonly number[] | undefined;
    },
  ): readonly number[] {
    const gone = this.groups.filter(lost);
    const alive = this.groups.filter((group) => !lost(group));
    const until = (group: number): number => this.#until.get(group)!;
    // A copy, as hosts may use their list again.
    let arrived = [...hosts.waitFor(alive, { count: 0, timeoutMs: 0 })];
    for (;;) {
      const now = performance.now();
      const pending = alive.filter((group) => !arrived.includes(group));
      const silent = pending.filter((group) => until(group) <= now);
      const taken = enough([...gone, ...arrived, ...silent]);
      if (taken !== undefined) {
        for (const group of taken) this.#until.delete(group);
        return taken;
      }
      const untils = pending.map(until).filter((it) => it > now);
      const timeoutMs = Math.min(...untils) - now;
      const count = arrived.length + 1;
      arrived = [...hosts.waitFor(alive, { count, timeoutMs })];
      this.#extend(stoodStill({ since: now, timeoutMs }));
    }
  }

  #extend(ms: number): void {
    if (ms === 0) return;
    for (const [group, until] of this.#until) {
      this.#until.set(group, until + ms);
    }
  }
}
