/** A picture: three bytes a pixel (red, green, blue), row by row. */
export interface Picture {
  width: number;
  height: number;
  data: Uint8Array;
}
