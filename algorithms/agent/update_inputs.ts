import { shuffle } from "@bellman/buffers";
import {
  ARRAYS,
  type RandomStream,
  type TensorData,
  type TensorInput,
  type TensorType,
} from "@bellman/compute";
import { drawNoise } from "@bellman/policies";
import { NUMBER } from "./experience/_tensor_types.ts";
import type { Moment } from "./experience/context.ts";
import type { NumberInput, RandomInput, UpdateInput } from "./definition.ts";

/** Numbers and random numbers that updates take in addition to a batch. */
export class UpdateInputs {
  /** Shapes and types by name. */
  readonly types: Record<string, TensorType> = {};
  readonly #numbers: [string, NumberInput][] = [];
  readonly #random: [string, RandomInput, Float32Array | Int32Array][] = [];
  readonly #drawn: Record<string, TensorInput> = {};

  constructor(inputs: Readonly<Record<string, UpdateInput>>) {
    for (const [name, input] of Object.entries(inputs)) {
      if (typeof input === "function") {
        this.types[name] = NUMBER;
        this.#numbers.push([name, input]);
        continue;
      }
      const { kind, rows, size } = input;
      const dtype = kind === "permutation" ? "int32" : "float32";
      this.types[name] = { shape: [rows, size], dtype };
      this.#drawn[name] = new ARRAYS[dtype](rows * size);
      this.#random.push([name, input, this.#drawn[name]]);
    }
  }

  /** Draws the inputs of an update by one program. */
  draw(
    program: string,
    moment: Moment,
    random: RandomStream,
  ): Record<string, TensorInput> {
    for (const [, input, into] of this.#random) {
      if ((input.only ?? program) === program) drawRandom(input, random, into);
    }
    for (const [name, at] of this.#numbers) this.#drawn[name] = at(moment);
    return this.#drawn;
  }
}

function drawRandom(
  { kind, size }: RandomInput,
  random: RandomStream,
  into: TensorData,
): void {
  if (kind !== "permutation") {
    drawNoise({ noise: { kind, size } }, random, into as Float32Array);
    return;
  }
  for (let at = 0; at < into.length; at += size) {
    const row = into.subarray(at, at + size) as Int32Array;
    for (let i = 0; i < size; i++) row[i] = i;
    shuffle(row, random);
  }
}
