import { encode } from "fast-png";
import type { Picture } from "./picture.ts";

/** Encodes one picture as a PNG file. */
export function encodePng({ width, height, data }: Picture): Uint8Array {
  return encode({ width, height, data, channels: 3 });
}
