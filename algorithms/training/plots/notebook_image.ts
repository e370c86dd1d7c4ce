import { escapeMarkup } from "./image.ts";

/**
 * Image that a Jupyter notebook of Deno shows where it is the last expression of a
 * cell, or by `Deno.jupyter.display`.
 *
 * @example
 * ```ts
 * import { NotebookImage, renderCurves } from "@bellman/training/plots";
 * import { assertEquals } from "@std/assert";
 *
 * const runs = [{ x: [0, 100], y: [1, 5] }];
 * const svg = renderCurves([{ name: "a", runs }]);
 * assertEquals(new NotebookImage(svg).data, svg);
 * ```
 */
export class NotebookImage {
  /** Text of an SVG image, or the bytes of a GIF. */
  readonly data: string | Uint8Array;
  /** Text for those who do not see it; that of an SVG image is within it. */
  readonly description: string;

  /**
   * Takes an image.
   *
   * @param data What `renderCurves` and the other functions return: the text of
   * an SVG image, or the bytes of `renderAnimation`.
   * @param description Text for those who do not see a GIF.
   */
  constructor(data: string | Uint8Array, description: string = "animation") {
    this.data = data;
    this.description = description;
  }

  /** Returns the image by its media type, as `deno jupyter` asks for it. */
  [Symbol.for("Jupyter.display")](): Record<string, string> {
    if (typeof this.data === "string") return { "image/svg+xml": this.data };
    const text = escapeMarkup(this.description);
    // Not every viewer of notebooks knows image/gif.
    const html =
      `<img alt="${text}" src="data:image/gif;base64,${this.data.toBase64()}">`;
    return { "text/html": html };
  }
}
