import type { Random } from "../samplers/sampler.ts";

/** What a buffer of the tests is made for. */
export interface NaiveOptions {
  readonly numEnvs: number;
  /** Steps that fit in. */
  readonly steps: number;
  /** Frames of the camera's stack. */
  readonly frames: number;
  /** Steps of a return; 0 without one. */
  readonly nStep: number;
  readonly gamma: number;
  /** Numbers of a frame, and of those the ones of a pixel. */
  readonly frameSize: number;
  readonly channels: number;
  readonly jointSize: number;
}

/** Numbers of an observation. */
interface Seen {
  readonly camera: readonly number[];
  readonly joints: readonly number[];
}

/** One environment's step. */
interface Row {
  readonly seen: Seen;
  readonly next: Seen;
  readonly action: readonly number[];
  readonly reward: number;
  readonly terminated: number;
  readonly truncated: number;
}

/** Numbers of a drawn row, by field. */
export type DrawnRow = Record<string, readonly number[]>;

/** Keeps every step forever, and looks rows up one by one. */
export class NaiveReplay {
  /** `[step][env]`. */
  readonly history: Row[][] = [];
  readonly #options: NaiveOptions;
  #present: Seen[] | undefined;

  constructor(options: NaiveOptions) {
    this.#options = options;
  }

  /** Invents a step that follows the last one, and notes it. */
  step(random: Random, endings: number): Row[] {
    const { numEnvs } = this.#options;
    this.#present ??= this.#observeAll(random);
    const rows = this.#present.map((seen): Row => ({
      seen,
      next: this.#observe(random),
      action: [random.integer(1000) / 8, random.integer(1000)],
      reward: random.integer(1000) / 8,
      terminated: random.uniform() < endings ? 1 + random.integer(255) : 0,
      truncated: random.uniform() < endings ? 1 : 0,
    }));
    this.#present = Array.from({ length: numEnvs }, (_, env) => {
      const { terminated, truncated, next } = rows[env];
      return terminated || truncated ? this.#observe(random) : next;
    });
    this.history.push(rows);
    return rows;
  }

  /** Cuts the episodes that the last step left running. */
  endEpisodes(flag: "terminated" | "truncated"): void {
    const last = this.history.at(-1) ?? [];
    last.forEach((row, env) => {
      if (row.terminated || row.truncated) return;
      last[env] = { ...row, [flag]: 1 };
    });
    this.#present = undefined;
  }

  #observeAll(random: Random): Seen[] {
    const { numEnvs } = this.#options;
    return Array.from({ length: numEnvs }, () => this.#observe(random));
  }

  #observe(random: Random): Seen {
    const { frameSize, jointSize } = this.#options;
    const numbers = (length: number) =>
      Array.from({ length }, () => 1 + random.integer(255));
    return { camera: numbers(frameSize), joints: numbers(jointSize) };
  }

  clear(): void {
    this.history.length = 0;
    this.#present = undefined;
  }

  /** Slots that may be drawn, oldest first, each with its step. */
  drawable(): Map<number, { step: number; env: number }> {
    const { steps, numEnvs, frames } = this.#options;
    const total = this.history.length;
    const first = total > steps ? total - steps + frames - 1 : 0;
    const slots = new Map<number, { step: number; env: number }>();
    for (let step = first; step < total; step++) {
      for (let env = 0; env < numEnvs; env++) {
        slots.set((step % steps) * numEnvs + env, { step, env });
      }
    }
    return slots;
  }

  /** What is drawn for a step. */
  row(step: number, env: number): DrawnRow {
    const { nStep, gamma } = this.#options;
    const newest = this.history.length - 1;
    let last = step, sum = 0, discount = 1;
    const later: { at: number; discount: number }[] = [];
    for (let at = step, n = 0; n < Math.max(1, nStep); n++, at++) {
      const row = this.history[at][env];
      last = at;
      if (n > 0) later.push({ at, discount });
      sum += discount * row.reward;
      discount *= gamma;
      if (row.terminated || row.truncated || at === newest) break;
    }
    while (later.length < nStep - 1) later.push({ at: last, discount: 0 });
    const { seen, action, reward } = this.history[step][env];
    const { terminated, truncated, next } = this.history[last][env];
    const stack = this.#stack(step, env);
    const after = [...this.#stack(last, env).slice(1), next.camera];
    return {
      camera: this.#interleave(stack),
      joints: seen.joints,
      action,
      reward: [nStep > 0 ? sum : reward],
      terminated: [terminated],
      truncated: [truncated],
      nextCamera: this.#interleave(after),
      nextJoints: next.joints,
      discount: [discount],
      laterCamera: later.flatMap(({ at }) =>
        this.#interleave(this.#stack(at, env))
      ),
      laterJoints: later.flatMap(({ at }) => this.history[at][env].seen.joints),
      laterReward: later.map(({ at }) => this.history[at][env].reward),
      laterDiscount: later.map(({ discount }) => discount),
    };
  }

  #stack(step: number, env: number): (readonly number[])[] {
    const { frames } = this.#options;
    const stack = [this.history[step][env].seen.camera];
    let isFirst = false;
    for (let at = step; stack.length < frames;) {
      const before = this.history[at - 1]?.[env];
      isFirst ||= !before || before.terminated + before.truncated > 0;
      if (!isFirst) stack.unshift(this.history[--at][env].seen.camera);
      else stack.unshift(stack[0]);
    }
    return stack;
  }

  #interleave(stack: (readonly number[])[]): number[] {
    const { channels, frameSize } = this.#options;
    const numbers: number[] = [];
    for (let at = 0; at < frameSize; at += channels) {
      for (const frame of stack) {
        numbers.push(...frame.slice(at, at + channels));
      }
    }
    return numbers;
  }
}
