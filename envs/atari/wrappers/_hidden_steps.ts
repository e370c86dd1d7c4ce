import type { Env, SpaceValue, StateTree, StepResult } from "@bellman/types";

/**
 * Steps that a wrapper takes by itself in `reset`. Episodes that end in them are
 * told with the next step that is seen.
 */
export class HiddenSteps {
  #env: Env;
  #untold: StateTree[] = [];

  constructor(env: Env) {
    this.#env = env;
  }

  /**
   * Takes a step that nobody sees and returns the present observation; an episode
   * that ends in it is followed by a new one.
   */
  take(action: number): SpaceValue {
    const { observation, terminated, truncated, info } = this.#env.step(action);
    this.#untold.push(...(info?.episodes ?? []) as StateTree[]);
    return terminated || truncated ? this.#env.reset() : observation;
  }

  /** A step that is seen, with the episodes that ended unseen before it. */
  tell(result: StepResult): StepResult {
    if (this.#untold.length === 0) return result;
    const ended = (result.info?.episodes ?? []) as StateTree[];
    const episodes = [...this.#untold, ...ended];
    this.#untold = [];
    return { ...result, info: { ...result.info, episodes } };
  }

  /** Forgets what was not told, as when the random streams start anew. */
  forget(): void {
    this.#untold = [];
  }

  save(): StateTree {
    return structuredClone(this.#untold);
  }

  load(state: StateTree): void {
    this.#untold = structuredClone(state as StateTree[]);
  }
}
