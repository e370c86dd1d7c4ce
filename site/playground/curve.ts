/// <reference lib="dom" />
import { rangeAround, ticksOver } from "@bellman/statistics";
import UPlot from "uplot";

/** Points beyond which every second one of the training is left out. */
const MOST_POINTS = 2000;

/** Steps that the axis has before there are as many. */
const FIRST_STEPS = 1000;

/** A point: one of both numbers, and the goal. */
type Row = [step: number, trained: number | null, evaluated: number | null];

/** Pixels for the labels of an axis at the side. */
const widthOf = (_: UPlot, labels: readonly string[] | null): number =>
  20 + 8 * Math.max(0, ...(labels ?? []).map(({ length }) => length));

/** Curves of returns by steps: of training, of evaluations, and the goal as a line. */
export class Curve {
  readonly #plot: UPlot;
  readonly #element: HTMLElement;
  #rows: Row[] = [];
  #task = { goal: 0, beginner: 0 };

  /**
   * Draws empty axes.
   *
   * @param element Element that holds them, whose size they follow.
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
    const line = { spanGaps: true, points: { show: false } };
    this.#plot = new UPlot(
      {
        ...this.#size,
        scales: {
          x: { time: false, range: (_, __, last) => [0, last] },
          y: {
            range: (_, low, high) =>
              rangeAround(Math.min(low, this.#task.beginner), high, 0.04),
          },
        },
        legend: { show: false },
        cursor: { show: false },
        axes: [
          { ...axis, label: "steps" },
          { ...axis, label: "return", size: widthOf },
        ],
        series: [
          {},
          { ...line, stroke: () => color("--color1"), width: 1 },
          {
            ...line,
            stroke: () => color("--color0"),
            width: 2,
            points: { show: true, size: 5, fill: () => color("--color0") },
          },
          { ...line, stroke: () => color("--color2"), width: 1, dash: [6, 4] },
        ],
      },
      [[], [], [], []],
      element,
    );
    new ResizeObserver(() => this.#plot.setSize(this.#size)).observe(element);
    matchMedia("(prefers-color-scheme: dark)")
      .addEventListener("change", () => this.#plot.redraw());
  }

  get #size(): { width: number; height: number } {
    const { clientWidth, clientHeight } = this.#element;
    return {
      width: Math.max(200, clientWidth),
      height: Math.max(150, clientHeight),
    };
  }

  /** Adds the mean return of training episodes; one that is not known is left out. */
  addTraining(step: number, meanReturn: number): void {
    if (Number.isNaN(meanReturn)) return;
    this.#add([step, meanReturn, null]);
    if (this.#rows.length <= MOST_POINTS) return;
    this.#rows = this.#rows
      .filter(([, , evaluated], i) => evaluated !== null || i % 2 === 1);
  }

  /** Adds the mean return of an evaluation. */
  addEvaluation(step: number, meanReturn: number): void {
    this.#add([step, null, meanReturn]);
  }

  /** Removes all points, and draws the goal of another task. */
  clear(task: { readonly goal: number; readonly beginner: number }): void {
    this.#rows = [];
    this.#task = task;
    this.#draw();
  }

  #add(row: Row): void {
    this.#rows.push(row);
    this.#draw();
  }

  #draw(): void {
    const last = this.#rows.at(-1)?.[0] ?? 0;
    const end: Row[] = last < FIRST_STEPS ? [[FIRST_STEPS, null, null]] : [];
    const rows: Row[] = [[0, null, null], ...this.#rows, ...end];
    const [steps, trained, evaluated] = [0, 1, 2]
      .map((i) => rows.map((row) => row[i]));
    const goal = steps.map(() => this.#task.goal);
    this.#plot.setData([steps as number[], trained, evaluated, goal]);
  }
}
