import type { StateTree, World, WorldStep } from "@bellman/types";

/** What happens at a ply: who moves, and what follows. */
export interface Ply {
  game: number;
  mover: number;
  rewards: number[];
  terminated: boolean;
  truncated: boolean;
}

/** One world whose games go as they are written; a seat sees the index of the ply. */
export class PlyWorld implements World<Float32Array, Int32Array> {
  readonly numEnvs = 1;
  readonly seats: { name: string }[];
  readonly roles = {
    player: {
      observationSpace: {
        type: "box",
        shape: [1],
        low: 0,
        high: 1e6,
        dtype: "float32",
      },
      actionSpace: { type: "discrete", n: 1 },
    },
  } as const;
  readonly toAct: Uint8Array;
  readonly #plies: readonly Ply[];
  readonly #step: WorldStep;
  #at = -1;

  constructor(plies: readonly Ply[], players: number) {
    this.#plies = plies;
    this.seats = Array.from({ length: players }, (_, i) => ({ name: `${i}` }));
    this.toAct = new Uint8Array(players);
    this.#step = {
      rewards: new Float64Array(players),
      terminated: new Uint8Array(players),
      truncated: new Uint8Array(players),
    };
  }

  get isOver(): boolean {
    return this.#at >= this.#plies.length;
  }

  #turn(): void {
    // Past the last ply it is everybody's turn, so that nobody waits.
    if (this.isOver) this.toAct.fill(1);
    else this.toAct.fill(0)[this.#plies[this.#at].mover] = 1;
  }

  begin(): void {
    this.#at++;
    this.#turn();
  }

  step(): WorldStep {
    const { rewards, terminated, truncated } = this.#plies[this.#at];
    this.#step.rewards.set(rewards);
    this.#step.terminated.fill(Number(terminated));
    this.#step.truncated.fill(Number(truncated));
    if (terminated || truncated) {
      this.toAct.fill(0);
    } else {
      this.#at++;
      this.#turn();
    }
    return this.#step;
  }

  observe(): Float32Array {
    return Float32Array.of(this.#at);
  }

  save(): StateTree {
    return this.#at;
  }

  load(state: StateTree): void {
    this.#at = state as number;
    this.#turn();
  }

  render(): never {
    throw new Error("Cannot draw plies");
  }

  close(): void {}
}
