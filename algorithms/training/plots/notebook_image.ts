import { escapeMarkup } from "./image.ts";

/**
 * Image that a Jupyter notebook of Deno shows as the last expression of a cell, or by
 * `Deno.jupyter.display`.
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
  /** Text of an SVG image, or bytes of a GIF. */
  readonly data: string | Uint8Array;
  /** Alternative text; an SVG image contains its own. */
  readonly description: string;

  /**
   * Creates a displayable image.
   *
   * @param data Result of `renderCurves` and the other functions: text of an SVG image,
   * or bytes of `renderAnimation`.
   * @param description Alternative text of a GIF.
   */
  constructor(data: string | Uint8Array, description: string = "animation") {
    this.data = data;
    this.description = description;
  }

  /** Returns the image by media type, as `deno jupyter` needs it. */
  [Symbol.for("Jupyter.display")](): Record<string, string> {
    if (typeof this.data === "string") return { "image/svg+xml": this.data };
    const text = escapeMarkup(this.description);
    // Some notebook viewers do not know image/gif.
    const html =
      `<img alt="${text}" src="data:image/gif;base64,${this.data.toBase64()}">`;
    return { "text/html": html };
  }
}
