import type { PrioritizationOptions } from "./priority_sampler.ts";
import type { Random, SamplerState } from "./sampler.ts";

/** The options with their defaults, checked. */
export function prioritization(
  { alpha = 0.6, beta = 0.4, stratified = true, weightsRelativeTo = "buffer" }:
    PrioritizationOptions,
): Required<PrioritizationOptions> {
  checkExponent("alpha", alpha);
  checkExponent("beta", beta);
  if (weightsRelativeTo !== "buffer" && weightsRelativeTo !== "batch") {
    throw new TypeError(
      `Cannot make weights relative to '${weightsRelativeTo}': expected 'buffer' or 'batch'`,
    );
  }
  return { alpha, beta, stratified, weightsRelativeTo };
}

/** Throws unless an exponent is finite and not below 0. */
export function checkExponent(name: string, value: number): void {
  if (value >= 0 && value < Infinity) return;
  throw new RangeError(
    `Cannot prioritize with ${name} ${value}: expected a number of at least 0`,
  );
}

/** Throws unless each slot exists and has a priority that is finite and above 0. */
export function checkPriorities(
  slots: ArrayLike<number>,
  priorities: ArrayLike<number>,
  capacity: number,
): void {
  if (slots.length !== priorities.length) {
    throw new RangeError(
      `Cannot update the priorities of ${slots.length} slots with ${priorities.length}: expected as many`,
    );
  }
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i];
    if (!(slot >= 0 && slot < capacity && Number.isInteger(slot))) {
      throw new RangeError(
        `Cannot update the priority of slot ${slot}: expected 0 to ${
          capacity - 1
        }`,
      );
    }
    if (!(priorities[i] > 0 && priorities[i] < Infinity)) {
      throw new RangeError(
        `Cannot update the priority of slot ${slot} to ${
          priorities[i]
        }: expected a finite number above 0`,
      );
    }
  }
}

/** Throws if there is nothing to draw. */
export function checkDrawable(wanted: number, drawable: boolean): void {
  if (drawable) return;
  throw new RangeError(
    `Cannot sample ${wanted} rows as there is none that can be drawn`,
  );
}

/** The number that a saved state has under a name. */
export function savedNumber(
  state: SamplerState,
  name: string,
  isValid: (value: number) => boolean,
): number {
  const value = state?.[name];
  if (typeof value === "number" && isValid(value)) return value;
  throw new TypeError(
    `Cannot load a sampler with ${name} ${value}: expected what save() gave`,
  );
}

/** The numbers that a saved state has under a name. */
export function savedNumbers(
  state: SamplerState,
  name: string,
  capacity: number,
): Float64Array {
  const values = state?.[name];
  if (!(values instanceof Float64Array)) {
    throw new TypeError(
      `Cannot load a sampler without '${name}': expected what save() gave`,
    );
  }
  if (values.length > capacity) {
    throw new RangeError(
      `Cannot load a sampler of ${values.length} slots into one of ${capacity}`,
    );
  }
  return values;
}

/** Masses of a distribution at which rows are drawn. */
export class Masses {
  readonly #stratified: boolean;
  #masses = new Float64Array(0);

  constructor({ stratified }: { stratified: boolean }) {
    this.#stratified = stratified;
  }

  /** As many as wanted, of 0 up to the total; the same array at each call. */
  draw(
    count: number,
    { total, random }: { total: number; random: Random },
  ): Float64Array {
    if (this.#masses.length !== count) this.#masses = new Float64Array(count);
    const masses = this.#masses;
    if (this.#stratified) {
      for (let i = 0; i < count; i++) {
        masses[i] = (random.uniform() + i) * total / count;
      }
    } else {
      for (let i = 0; i < count; i++) masses[i] = random.uniform() * total;
    }
    return masses;
  }
}
