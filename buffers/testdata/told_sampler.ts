import type { StateTree } from "@bellman/types";
import { UniformSampler } from "../samplers/sampler.ts";

/** Draws uniformly, and notes the slots that it is told of. */
export class ToldSampler extends UniformSampler {
  slots: Set<number> = new Set();
  capacity = 0;

  resize(capacity: number): void {
    this.capacity = capacity;
  }

  override added(first = 0, count = 0): void {
    for (let slot = first; slot < first + count; slot++) {
      if (this.slots.has(slot) || slot >= this.capacity) {
        throw new Error(`slot ${slot} of ${this.capacity} was added again`);
      }
      this.slots.add(slot);
    }
  }

  override removed(first = 0, count = 0): void {
    for (let slot = first; slot < first + count; slot++) {
      if (!this.slots.delete(slot)) throw new Error(`slot ${slot} is missing`);
    }
  }

  override save(): Record<string, StateTree> {
    return { slots: Int32Array.from(this.slots).sort() };
  }

  override load(state?: StateTree): void {
    this.slots = new Set((state as { slots: Int32Array }).slots);
  }
}
