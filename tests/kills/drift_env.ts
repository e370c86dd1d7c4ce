/** An environment of the user's own, whose noise comes from a separate stream. */
import { box, discrete, register, SeededRandom } from "@bellman/envs";
import type {
  Env,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";

const SIZE = 3, LIMIT = 40;

/** A point drifts at random, and the action holds it at the middle. */
class DriftEnv implements Env {
  readonly observationSpace: Space = box({ low: -10, high: 10, shape: [SIZE] });
  readonly actionSpace: Space;
  #random = new SeededRandom(0);
  #place = new Float32Array(SIZE);
  #steps = 0;
  #forgetful: boolean;
  /** Allows no push away from the middle, far from it. */
  actionMasks?: () => Uint8Array;

  constructor(
    { discreteActions = false, forgetful = false, masked = false } = {},
  ) {
    this.actionSpace = discreteActions
      ? discrete(3)
      : box({ low: -1, high: 1, shape: [1] });
    this.#forgetful = forgetful;
    if (!masked) return;
    this.actionMasks = () => {
      const [place] = this.#place;
      return Uint8Array.of(+(place > -0.3), 1, +(place < 0.3));
    };
  }

  reset({ seed }: { seed?: number } = {}): Float32Array {
    if (seed !== undefined) this.#random = new SeededRandom(seed);
    this.#steps = 0;
    this.#place = Float32Array.from(
      this.#place,
      () => this.#random.uniform() - 0.5,
    );
    return this.#place.slice();
  }

  step(action: SpaceValue): StepResult {
    if (this.actionMasks?.()[action as number] === 0) {
      throw new Error(`the action ${action} is forbidden`);
    }
    const push = typeof action === "number"
      ? action - 1
      : (action as Float32Array)[0];
    for (let i = 0; i < SIZE; i++) {
      const moved = this.#place[i] + 0.3 * (this.#random.uniform() - 0.5) +
        0.1 * push;
      this.#place[i] = Math.min(10, Math.max(-10, moved));
    }
    this.#steps++;
    const far = Math.hypot(...this.#place);
    return {
      observation: this.#place.slice(),
      reward: 1 - far,
      terminated: far > 1.5,
      truncated: this.#steps >= LIMIT,
    };
  }

  save(): StateTree {
    return {
      place: [...this.#place],
      steps: this.#steps,
      random: this.#forgetful ? null : this.#random.save(),
    };
  }

  load(snapshot: StateTree): void {
    const { place, steps, random } = snapshot as Record<string, StateTree>;
    this.#place = Float32Array.from(place as number[]);
    this.#steps = steps as number;
    if (random !== null) this.#random.load(random);
  }

  render(): { width: number; height: number; data: Uint8Array } {
    return { width: 1, height: 1, data: new Uint8Array(3) };
  }

  close(): void {}
}

register({ id: "Drift-v0", make: (kwargs) => new DriftEnv(kwargs) });
