import type { GroupHosts } from "./group_hosts.ts";
import { LATE_MS, stoodStill } from "./_patience.ts";

/** A group on its way. */
interface Sent {
  readonly timeoutMs: number;
  /** Until when it may take. */
  until: number;
  /** When one last looked whether it had answered. */
  seenAt: number;
  /** Whether its time was given to it anew. */
  isExcused: boolean;
}

/** Groups that were sent actions, and until when each may take. */
export class SentGroups {
  #sent = new Map<number, Sent>();

  /** How many there are. */
  get size(): number {
    return this.#sent.size;
  }

  /** Which groups, the earliest first. */
  get groups(): readonly number[] {
    return [...this.#sent.keys()];
  }

  has(group: number): boolean {
    return this.#sent.has(group);
  }

  add(group: number, timeoutMs: number): void {
    const now = performance.now(), until = now + timeoutMs;
    this.#sent.set(group, { timeoutMs, until, seenAt: now, isExcused: false });
  }

  /**
   * Waits until enough groups have answered, were lost, or are overdue; takes
   * those out. What is broken comes before the first that are ready: where there
   * are always enough of those, it would never be its turn.
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
    const until = (group: number): number => this.#sent.get(group)!.until;
    // A copy, as hosts may use their list again.
    let arrived = [...hosts.waitFor(alive, { count: 0, timeoutMs: 0 })];
    this.#excuse(alive.filter((group) => !arrived.includes(group)));
    for (;;) {
      const now = performance.now();
      const pending = alive.filter((group) => !arrived.includes(group));
      const silent = pending.filter((group) => until(group) <= now);
      const taken = enough([...gone, ...silent, ...arrived]);
      if (taken !== undefined) {
        for (const group of taken) this.#sent.delete(group);
        for (const sent of this.#sent.values()) sent.seenAt = now;
        return taken;
      }
      const untils = pending.map(until).filter((it) => it > now);
      const timeoutMs = Math.min(...untils) - now;
      const count = arrived.length + 1;
      arrived = [...hosts.waitFor(alive, { count, timeoutMs })];
      this.#extend(stoodStill({ since: now, timeoutMs }));
    }
  }

  /**
   * Gives groups their time anew, once, whose time ran out while nobody looked:
   * all may have been stopped then, as a step that waits would have noticed.
   */
  #excuse(groups: readonly number[]): void {
    const now = performance.now();
    for (const group of groups) {
      const sent = this.#sent.get(group)!;
      if (sent.isExcused || sent.until > now) continue;
      if (now - sent.seenAt <= LATE_MS) continue;
      sent.until = now + sent.timeoutMs;
      sent.isExcused = true;
    }
  }

  #extend(ms: number): void {
    if (ms === 0) return;
    for (const sent of this.#sent.values()) sent.until += ms;
  }
}
