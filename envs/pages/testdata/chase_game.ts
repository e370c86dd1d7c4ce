import { connect, type GameReset } from "@bellman/client";
import { Chase } from "./chase.ts";

/** A game that cannot be saved: its episodes are played again. */
class Unsaved {
  readonly #chase = new Chase();
  readonly observationSpace = this.#chase.observationSpace;
  readonly actionSpace = this.#chase.actionSpace;

  reset({ random, parameters }: GameReset) {
    return this.#chase.begin(random, parameters);
  }

  step(action: number) {
    return this.#chase.step(action);
  }

  /** A person who goes to the right. */
  watch() {
    return Promise.resolve({ ...this.step(2), action: 2 });
  }
}

connect(() => new Unsaved());
