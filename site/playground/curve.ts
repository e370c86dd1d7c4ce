/// <reference lib="dom" />
import { rangeAround, ticksOver } from "@bellman/statistics";
import UPlot from "uplot";

/** Rows of pixels of the curve. */
const HEIGHT = 220;
/** Points beyond which every second one is left out. */
const MOST_POINTS = 2000;

/** Curve of mean returns by steps. */
export class Curve {
  readonly #plot: UPlot;
  readonly #element: HTMLElement;
  #steps: number[] = [];
  #returns: number[] = [];

  /**
   * Draws an empty curve.
   *
   * @param element Element that holds it, whose width it follows.
   */
  constructor(element: HTMLElement) {
    this.#element = element;
    const color = (name: string) => {
      const probe = document.createElement("span");
      probe.style.color = `var(${name})`;
      element.append(probe);
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    };
    const axis = {
      stroke: () => color("--soft"),
      grid: { stroke: () => color("--edge"), width: 1 },
      ticks: { stroke: () => color("--edge"), width: 1 },
      // Those of the library never end where doubles cannot tell them apart.
      splits: (_: UPlot, __: number, from: number, to: number) =>
        ticksOver(from, to).ticks,
    };
    this.#plot = new UPlot(
      {
        width: this.#width,
        height: HEIGHT,
        scales: {
          x: { time: false },
          y: { range: (_, low, high) => rangeAround(low, high, 0.04) },
        },
        legend: { show: false },
        cursor: { show: false },
        axes: [{ ...axis, label: "steps" }, { ...axis, label: "mean return" }],
        series: [{}, { stroke: () => color("--color0"), width: 2 }],
      },
      [[], []],
      element,
    );
    new ResizeObserver(() =>
      this.#plot.setSize({ width: this.#width, height: HEIGHT })
    ).observe(element);
    matchMedia("(prefers-color-scheme: dark)")
      .addEventListener("change", () => this.#plot.redraw());
  }

  get #width(): number {
    return Math.max(200, this.#element.clientWidth);
  }

  /** Adds a point; one without a return yet is left out. */
  add(step: number, meanReturn: number): void {
    if (Number.isNaN(meanReturn)) return;
    this.#steps.push(step);
    this.#returns.push(meanReturn);
    if (this.#steps.length > MOST_POINTS) {
      const isKept = (_: number, i: number) => i % 2 === 1;
      this.#steps = this.#steps.filter(isKept);
      this.#returns = this.#returns.filter(isKept);
    }
    this.#plot.setData([this.#steps, this.#returns]);
  }

  /** Removes all points. */
  clear(): void {
    this.#steps = [];
    this.#returns = [];
    this.#plot.setData([[], []]);
  }
}
