import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";
import { Wrapper } from "../wrappers/wrapper.ts";

/** Masks by a function of the step, which is -1 before the first reset. */
export class MaskedBy extends Wrapper {
  #masks: (step: number) => unknown;
  #step = -1;

  constructor(env: Env, masks: (step: number) => unknown) {
    super(env);
    this.#masks = masks;
  }

  override get actionMasks(): () => Uint8Array {
    return () => this.#masks(this.#step) as Uint8Array;
  }

  override reset(options?: { seed?: number }): SpaceValue {
    this.#step = 0;
    return super.reset(options);
  }

  override step(action: SpaceValue): StepResult {
    this.#step++;
    return super.step(action);
  }

  protected override ownState(): StateTree {
    return this.#step;
  }

  protected override loadOwnState(state: StateTree): void {
    this.#step = state as number;
  }
}
