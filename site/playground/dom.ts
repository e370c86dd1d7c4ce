/// <reference lib="dom" />
/** Elements of the page, and what is shown in them. */
import type { RgbImage } from "@bellman/types";

/** Finds an element, which the page has. */
export const element = <E extends HTMLElement>(id: string): E =>
  document.getElementById(id) as E;
/** Finds a field. */
export const input = (id: string): HTMLInputElement => element(id);
/** Finds a button. */
export const button = (id: string): HTMLButtonElement => element(id);
/** Finds a choice. */
export const select = (id: string): HTMLSelectElement => element(id);

/** Shows a text in an element. */
export function show(id: string, text: string): void {
  element(id).textContent = text;
}

/** Adds figures to a list: their titles by the ids of their values. */
export function addFigures(list: string, titles: Record<string, string>): void {
  for (const [id, title] of Object.entries(titles)) {
    const [group, term, value] = ["div", "dt", "dd"]
      .map((it) => document.createElement(it));
    Object.assign(term, { textContent: title });
    Object.assign(value, { id, textContent: "–" });
    group.append(term, value);
    element(list).append(group);
  }
}

/** Writes a number as a whole one. */
export const whole = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString("en-US") : "–";
/** Writes a number with one decimal. */
export const decimal = (value: number): string =>
  Number.isFinite(value) ? value.toFixed(1) : "–";

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

/** Draws pictures side by side; once a second where motion is unwanted. */
export class Screen {
  readonly #canvas: HTMLCanvasElement;
  #drawnAt = -Infinity;

  /** Draws in the canvas of an id. */
  constructor(id: string) {
    this.#canvas = element(id);
  }

  /** Draws pictures of one size. */
  draw(pictures: readonly RgbImage[]): void {
    const now = performance.now();
    if (isStill.matches && now - this.#drawnAt < 1000) return;
    this.#drawnAt = now;
    const columns = Math.ceil(Math.sqrt(pictures.length));
    const [{ width, height }] = pictures;
    const canvas = this.#canvas;
    // Setting a size clears the canvas.
    if (canvas.width !== columns * width) canvas.width = columns * width;
    if (canvas.height !== columns * height) canvas.height = columns * height;
    const context = canvas.getContext("2d")!;
    pictures.forEach(({ data }, i) => {
      const image = new ImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      for (let pixel = 0, at = 0; pixel < pixels.length; pixel++, at += 3) {
        pixels[pixel] = 0xff000000 | data[at + 2] << 16 | data[at + 1] << 8 |
          data[at];
      }
      const [row, column] = [Math.floor(i / columns), i % columns];
      context.putImageData(image, column * width, row * height);
    });
  }
}

/** Waits for the next frame; in a page that is not seen, until it is. */
export const nextFrame = (): Promise<number> =>
  new Promise((resolve) => requestAnimationFrame(resolve));

/** Offers bytes as a download. */
export function download(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
