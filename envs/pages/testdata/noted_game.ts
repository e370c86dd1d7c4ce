import { connect, type GameReset } from "@bellman/client";

/** A game that saves a text, and draws from the stream that its episode began with. */
class Noted {
  readonly observationSpace = {
    ...{ type: "box", shape: [1], low: 0, high: 1, dtype: "float64" } as const,
  };
  readonly actionSpace = { type: "discrete", n: 2 } as const;
  #random!: GameReset["random"];
  #note = "inf";

  reset({ random }: GameReset) {
    this.#random = random;
    return [0];
  }

  step() {
    if (this.#note !== "inf") throw new Error(`the note is ${this.#note}`);
    const observation = [this.#random.uniform()];
    return { observation, reward: 1, terminated: false, truncated: false };
  }

  save() {
    return this.#note;
  }

  load(note: string) {
    this.#note = note;
  }
}

connect(() => new Noted());
