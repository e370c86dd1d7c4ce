/// <reference lib="dom" />
import UPlot from "uplot";
import { make } from "./dom.ts";
import { Painter } from "./painter.ts";
import {
  COLORS,
  type Curve,
  type Frame,
  frameOf,
  type Scales,
  ticksOf,
  tickTexts,
  wholeRange,
  yTicks,
} from "./data/frame.ts";

/** What people do with a chart. */
export interface ChartEvents {
  /** They point at a place. */
  onPoint(x: number): void;
  /** They choose a part, or null for all. */
  onZoom(zoom: [number, number] | null): void;
}

const HEIGHT = 260;

/** Reads a colour of the style sheet. */
function themed(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name)
    .trim();
}

/** Lets the library draw an axis of any length, whose ticks are given. */
function anyStep(
  ...[_plot, _axis, low, high]: [UPlot, number, number, number]
): number[] {
  return [Math.max(5, high - low)];
}

/** Chart of lines with bands, in the colours of the style sheet. */
export class Chart {
  /** Element that holds it. */
  readonly element: HTMLDivElement;
  readonly #events: ChartEvents;
  readonly #name: string;
  readonly #observer: ResizeObserver;
  #plot: UPlot | undefined;
  #curves: readonly Curve[] = [];
  #scales: Scales = { xLabel: "", log: false, zoom: null };
  /** Range of all that is drawn. */
  #frame: Frame = { x: [0, 1], y: [0, 1], log: false };
  readonly #painter = new Painter();
  #wanted = false;
  #pointer: number | null = null;

  /**
   * Makes an empty chart.
   *
   * @param name Words for people who do not see it.
   * @param events What people do with it.
   */
  constructor(name: string, events: ChartEvents) {
    this.#events = events;
    this.#name = name;
    this.element = make("div", {
      class: "plot",
      tabindex: 0,
      role: "group",
    });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.#observer = new ResizeObserver(() => {
      const { clientWidth: width } = this.element;
      if (width > 0) this.#plot?.setSize({ width, height: HEIGHT });
    });
    this.#observer.observe(this.element);
  }

  /** Curves that are drawn. */
  get curves(): readonly Curve[] {
    return this.#curves;
  }

  /** Range of what is drawn. */
  get frame(): Frame {
    return this.#frame;
  }

  /** Draws other curves with the next picture of the screen. */
  update(curves: readonly Curve[], scales: Scales): void {
    if (this.#plot && scales.log !== this.#scales.log) this.#drop();
    if (this.#plot && scales.xLabel !== this.#scales.xLabel) this.#drop();
    this.#curves = curves;
    this.#scales = scales;
    this.element.setAttribute(
      "aria-label",
      `${this.#name} by ${scales.xLabel}: ${curves.length} curves. Arrow keys move the pointer, plus and minus zoom, 0 shows all`,
    );
    if (this.#wanted) return;
    this.#wanted = true;
    requestAnimationFrame(() => {
      this.#wanted = false;
      this.#draw();
    });
  }

  /** Moves the pointer to a place. */
  point(x: number | null): void {
    this.#pointer = x;
    const plot = this.#plot;
    if (plot === undefined) return;
    const left = x === null ? -10 : plot.valToPos(x, "x");
    plot.setCursor({ left, top: x === null ? -10 : 1 }, false);
  }

  /** Draws again in other colours. */
  recolor(): void {
    this.#plot?.redraw();
  }

  /** Removes it. */
  end(): void {
    this.#observer.disconnect();
    this.#drop();
    this.element.remove();
  }

  #drop(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  #draw(): void {
    if (!this.element.isConnected || this.element.clientWidth === 0) return;
    this.#frame = frameOf(this.#curves, this.#scales);
    this.#plot ??= this.#make();
    const { x, y } = this.#frame;
    this.#plot.setData([x, y]);
  }

  #make(): UPlot {
    const axis: UPlot.Axis = {
      stroke: () => themed("--soft"),
      grid: { stroke: () => themed("--edge"), width: 1 },
      ticks: { stroke: () => themed("--edge"), width: 1 },
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      labelSize: 18,
    };
    const plot = new UPlot(
      {
        width: this.element.clientWidth,
        height: HEIGHT,
        scales: {
          x: { time: false, range: () => this.#frame.x },
          y: {
            distr: this.#scales.log ? 3 : 1,
            range: () => this.#frame.y,
          },
        },
        legend: { show: false },
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => (this.#events.onZoom(null), null) },
        },
        axes: [
          {
            ...axis,
            label: this.#scales.xLabel,
            size: 34,
            // Those of the library never end where doubles cannot tell them apart.
            incrs: anyStep,
            splits: () => ticksOf(this.#frame.x),
            filter: (_, places) => places,
            values: (_, places) => tickTexts(places),
          },
          {
            ...axis,
            size: 64,
            // Those of the library for logarithms need ranges of whole decades.
            incrs: anyStep,
            splits: () => yTicks(this.#frame),
            filter: (_, places) => places,
            values: (_, places) => tickTexts(places),
          },
        ],
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: {
          draw: [(it) => this.#paint(it)],
          setCursor: [(it) => this.#onCursor(it)],
          setSelect: [(it) => this.#onSelect(it)],
        },
      },
      [this.#frame.x, this.#frame.y],
      this.element,
    );
    return plot;
  }

  #paint({ ctx, bbox }: UPlot): void {
    const colors = Array.from(
      { length: COLORS },
      (_, i) => themed(`--color${i}`),
    );
    const frame = this.#frame;
    this.#painter.paint(ctx, this.#curves, { frame, box: bbox, colors });
  }

  #onCursor({ cursor, posToVal }: UPlot): void {
    const { left } = cursor;
    if (left === undefined || left === null || left < 0) return;
    this.#pointer = posToVal(left, "x");
    this.#events.onPoint(this.#pointer);
  }

  #onSelect(plot: UPlot): void {
    const { left, width } = plot.select;
    if (width < 3) return;
    const from = plot.posToVal(left, "x");
    const to = plot.posToVal(left + width, "x");
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#events.onZoom([from, to]);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [from, to] = this.#frame.x;
    const at = this.#pointer ?? (from + to) / 2;
    const moves: Record<string, number> = {
      ArrowLeft: at - (to - from) / 50,
      ArrowRight: at + (to - from) / 50,
      Home: from,
      End: to,
    };
    const zooms: Record<string, number> = { "+": 0.5, "=": 0.5, "-": 2 };
    if (event.key in moves) {
      const x = Math.min(to, Math.max(from, moves[event.key]));
      this.point(x);
      this.#events.onPoint(x);
    } else if (event.key in zooms) {
      this.#events.onZoom(this.#zoomedAt(at, zooms[event.key]));
    } else if (event.key === "0" || event.key === "Escape") {
      this.#events.onZoom(null);
    } else return;
    event.preventDefault();
  }

  /** Zooms around a place; null where all would be seen. */
  #zoomedAt(at: number, factor: number): [number, number] | null {
    const [from, to] = this.#frame.x;
    const [first, last] = wholeRange(this.#curves);
    const next: [number, number] = [
      Math.max(first, at - (at - from) * factor),
      Math.min(last, at + (to - at) * factor),
    ];
    if (next[0] <= first && next[1] >= last) return null;
    return next[0] < next[1] ? next : [from, to];
  }
}
