import { ARRAYS, type DType, sizeOf, type TensorData } from "../graph/graph.ts";

/** A tensor of a program: its name, shape and type. */
export interface Port {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly size: number;
}

/** Makes the port of a named tensor. */
export function toPort(
  { name, value }: {
    name: string;
    value: { shape: readonly number[]; dtype: DType };
  },
): Port {
  const { shape, dtype } = value;
  return { name, shape, dtype, size: sizeOf(shape) };
}

/** Makes an array for the numbers of a tensor, all 0. */
export function allocate(
  { size, dtype }: Pick<Port, "size" | "dtype">,
): TensorData {
  return new ARRAYS[dtype](size);
}

/** Cuts an array into parts of some sizes, which share its memory. */
export function cut(
  whole: TensorData,
  sizes: readonly number[],
): TensorData[] {
  let offset = 0;
  return sizes.map((size) => whole.subarray(offset, offset += size));
}
