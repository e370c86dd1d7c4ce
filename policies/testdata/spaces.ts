import type { BoxSpace } from "@bellman/types";

/** A box of three numbers. */
export const BOX: BoxSpace = {
  type: "box",
  shape: [3],
  low: -1,
  high: 1,
  dtype: "float32",
};

/** Small images of two channels. */
export const IMAGE: BoxSpace = {
  type: "box",
  shape: [12, 12, 2],
  low: 0,
  high: 255,
  dtype: "uint8",
};
