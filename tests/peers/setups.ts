/** Networks and random observations that several programs measure with. */
import type { RandomStream } from "@bellman/compute";
import type { Space } from "@bellman/types";

/** A network, and the spaces that it is for. */
export interface Setup {
  readonly network: "mlp" | "cnn";
  readonly observationSpace: Space & { readonly shape: readonly number[] };
  readonly actions: number;
}

/** Two layers of 64 on four numbers, and the Nature CNN on four frames. */
export const SETUPS: Readonly<Record<"mlp" | "cnn", Setup>> = {
  mlp: {
    network: "mlp",
    observationSpace: {
      type: "box",
      shape: [4],
      low: -1,
      high: 1,
      dtype: "float32",
    },
    actions: 2,
  },
  cnn: {
    network: "cnn",
    observationSpace: {
      type: "box",
      shape: [84, 84, 4],
      low: 0,
      high: 255,
      dtype: "uint8",
    },
    actions: 6,
  },
};

/** Draws normal numbers, or bytes where observations are images. */
export function drawObservations(
  { observationSpace: { shape } }: Setup,
  { rows, random }: { rows: number; random: RandomStream },
): Float32Array | Uint8Array {
  const count = rows * shape.reduce((a, b) => a * b);
  return shape.length === 1
    ? random.fillNormal(new Float32Array(count))
    : Uint8Array.from({ length: count }, () => random.integer(256));
}
