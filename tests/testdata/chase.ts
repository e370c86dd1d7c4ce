import { box, discrete, register } from "@bellman/envs";
import type {
  BoxArray,
  RandomSource,
  RgbImage,
  StateTree,
  World,
} from "@bellman/types";

/** Cells of the line. */
const CELLS = 7;
/** Steps that the mouse has to get through. */
const STEPS = 8;

/**
 * A cat and a mouse on a line: both step at once, and the mouse has lost if it is caught
 * within eight steps. The roles see different things and have different actions: the
 * cat stays or steps once, the mouse steps once, but not into a wall.
 */
export class Chase implements World<Float32Array, Int32Array> {
  readonly seats = [{ name: "cat", role: "cat" }, {
    name: "mouse",
    role: "mouse",
  }];
  readonly roles = {
    cat: {
      observationSpace: box({ shape: [2], low: 0, high: CELLS }),
      actionSpace: discrete(3),
    },
    mouse: {
      observationSpace: box({ shape: [3], low: 0, high: STEPS }),
      actionSpace: discrete(2),
    },
  };
  readonly toAct: Uint8Array;
  readonly #cells: Int32Array;
  readonly #steps: Int32Array;

  constructor(readonly numEnvs: number) {
    this.toAct = new Uint8Array(2 * numEnvs);
    this.#cells = new Int32Array(2 * numEnvs);
    this.#steps = new Int32Array(numEnvs);
  }

  begin(env: number, random: RandomSource): void {
    this.#cells.set(
      [random.integer(2), CELLS - 1 - random.integer(2)],
      2 * env,
    );
    this.#steps[env] = 0;
    this.toAct.fill(1, 2 * env, 2 * env + 2);
  }

  step(actions: readonly Int32Array[], which: Uint8Array) {
    const ends = () => new Uint8Array(2 * this.numEnvs);
    const rewards = new Float64Array(2 * this.numEnvs);
    const result = { rewards, terminated: ends(), truncated: ends() };
    for (let env = 0; env < this.numEnvs; env++) {
      if (which[env] === 0) continue;
      const [cat, mouse] = this.#cells.subarray(2 * env, 2 * env + 2);
      const next = [cat + actions[0][env] - 1, mouse + 2 * actions[1][env] - 1]
        .map((it) => Math.min(Math.max(it, 0), CELLS - 1));
      this.#cells.set(next, 2 * env);
      const isCaught = next[0] >= next[1];
      if (!isCaught && ++this.#steps[env] < STEPS) continue;
      this.toAct.fill(0, 2 * env, 2 * env + 2);
      rewards.set(isCaught ? [1, -1] : [-1, 1], 2 * env);
      result.terminated.fill(1, 2 * env, 2 * env + 2);
    }
    return result;
  }

  observe(seat: number): Float32Array {
    const seen = Array.from({ length: this.numEnvs }, (_, env) => {
      const [cat, mouse] = this.#cells.subarray(2 * env, 2 * env + 2);
      return seat === 0 ? [cat, mouse] : [mouse, cat, this.#steps[env]];
    });
    return Float32Array.from(seen.flat());
  }

  actionMasks(seat: number): Uint8Array {
    const masks = Array.from({ length: this.numEnvs }, (_, env) => {
      const acts = this.toAct[2 * env];
      const [cat, mouse] = this.#cells.subarray(2 * env, 2 * env + 2);
      return seat === 0
        ? [acts & +(cat > 0), acts, acts & +(cat < CELLS - 1)]
        : [acts & +(mouse > 0), acts & +(mouse < CELLS - 1)];
    });
    return Uint8Array.from(masks.flat());
  }

  save(): StateTree {
    return {
      toAct: this.toAct.slice(),
      cells: this.#cells.slice(),
      steps: this.#steps.slice(),
    };
  }

  load(state: StateTree): void {
    const saved = state as Record<string, BoxArray>;
    this.toAct.set(saved.toAct);
    this.#cells.set(saved.cells);
    this.#steps.set(saved.steps);
  }

  render(env: number): RgbImage {
    const data = new Uint8Array(3 * CELLS);
    data[3 * this.#cells[2 * env]] =
      data[3 * this.#cells[2 * env + 1] + 1] =
        255;
    return { width: CELLS, height: 1, data };
  }

  close(): void {}
}

register({ id: "Chase-v0", makeWorld: ({ numEnvs }) => new Chase(numEnvs) });
