import { isWhole } from "@bellman/files/options";
import type { StateTree } from "@bellman/types";
import { damaged, isModerate } from "./models/_refuse.ts";

/** Decision that waits for its reward. */
export interface Waiting {
  /** Index of its action. */
  index: number;
  /** Features of its action, which the reward is learned for. */
  x: Float64Array;
}

/** Decisions that wait for their rewards, the newest ones up to a number. */
export class Pending {
  readonly capacity: number;
  /** Number of decisions that were dropped before their rewards came. */
  forgotten = 0;
  /** In the order of their age. */
  #waiting = new Map<string, Waiting>();

  /** Makes room for decisions. */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Number of decisions that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Adds a decision; the oldest one is dropped where there are too many. */
  add(id: string, waiting: Waiting): void {
    this.#waiting.set(id, waiting);
    if (this.#waiting.size <= this.capacity) return;
    const [oldest] = this.#waiting.keys();
    this.#waiting.delete(oldest);
    this.forgotten++;
  }

  /** Takes a decision that waits. */
  take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  /** Drops the decisions for an action that goes; later ones move up. */
  remove(index: number): void {
    for (const [id, it] of this.#waiting) {
      if (it.index > index) it.index--;
      else if (it.index === index) {
        this.#waiting.delete(id);
        this.forgotten++;
      }
    }
  }

  /** Saves the decisions. */
  save(): { [key: string]: StateTree } {
    const all = [...this.#waiting.values()];
    return {
      forgotten: this.forgotten,
      ids: [...this.#waiting.keys()],
      indices: Int32Array.from(all, (it) => it.index),
      x: Float64Array.from(all.flatMap((it) => [...it.x])),
    };
  }

  /**
   * Replaces the decisions by saved ones: the newest that there is room for.
   *
   * @param state Saved decisions.
   * @param sizes Number of actions, and of features.
   * @throws {TypeError} If they are damaged.
   */
  load(state: StateTree, [actions, width]: [number, number]): void {
    const saved = { ...state as { [key: string]: StateTree } };
    const { forgotten, ids, indices, x } = saved;
    const { length } = Array.isArray(ids) ? ids : "";
    const isFine = isWhole(forgotten, 0) && Array.isArray(ids) &&
      ids.every((it) => typeof it === "string") &&
      new Set(ids).size === length &&
      indices instanceof Int32Array && indices.length === length &&
      indices.every((it) => it >= 0 && it < actions) &&
      x instanceof Float64Array && x.every(isModerate) &&
      x.length === length * width;
    if (!isFine) throw damaged("its waiting decisions");
    this.#waiting = new Map();
    this.forgotten = forgotten as number;
    ids.forEach((id, i) => {
      const from = i * width;
      this.add(id as string, {
        index: indices[i],
        x: x.slice(from, from + width),
      });
    });
  }
}
