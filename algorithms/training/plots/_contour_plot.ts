// @ts-types="@types/d3-contour"
import { contours } from "d3-contour";
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import type { ActionPlane } from "./_action_plane.ts";
import {
  acrossScale,
  axisBelow,
  axisLeft,
  edgeOf,
  element,
  finiteExtent,
  type Frame,
  inWords,
  label,
  pixels,
  type Scale,
  ticksOf,
  upScale,
  within,
} from "./svg.ts";
import {
  meanOf,
  notFinite,
  type PlotForm,
  type StateValues,
  valuesInWords,
} from "./_plot_form.ts";

/** From low to high, also for colour-blind readers: viridis. */
const colors = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];

/** Width of the bar of colours. */
const barWidth = 12;

/** Options of {@link ContourPlot}. */
export interface ContourOptions {
  /** Points along each axis. */
  readonly gridSize: number;
  /** About how many contours. */
  readonly levels: number;
}

/** Contours of Q over two numbers of the action, samples as dots over them. */
export class ContourPlot implements PlotForm {
  readonly actions: readonly Float32Array[];
  readonly margin = 64;
  readonly legend = [
    { text: "Q, from low to high", draw: drawColors },
    { text: "samples of the policy", draw: drawDot },
  ];
  readonly #plane: ActionPlane;
  readonly #options: ContourOptions;

  constructor(plane: ActionPlane, options: ContourOptions) {
    this.#plane = plane;
    this.#options = options;
    this.actions = plane.lines(options.gridSize);
  }

  draw(frame: Frame, { values, samples }: StateValues): string {
    const [across, up] = this.#plane.axes;
    const x = acrossScale(frame, [across.low, across.high]);
    const y = upScale(frame, [up.low, up.high]);
    return [
      this.#drawField(frame, values),
      element("g", { class: "qp-dots" }, ...this.#dots(samples, { x, y })),
      edgeOf(frame),
      axisBelow(frame, { ticks: ticksOf(x, 5), name: across.name }),
      axisLeft(frame, { ticks: ticksOf(y, 5), name: up.name }),
    ].join("");
  }

  #drawField(frame: Frame, values: ArrayLike<number>): string {
    const extent = finiteExtent(values);
    if (extent === undefined) return notFinite(frame);
    const [low, high] = extent;
    const round = scaleLinear(extent, [0, 1]);
    const text = round.tickFormat(this.#options.levels);
    const levels = round.ticks(this.#options.levels)
      .filter((level) => level > low && level < high);
    const fills = bandColors(levels.length + 1);
    const { left: x, top: y, width, height } = frame;
    const paths = contourPaths(values, {
      levels,
      gridSize: this.#options.gridSize,
      frame,
    });
    return [
      element("rect", { fill: fills[0], x, y, width, height }),
      ...paths.map((d, i) =>
        element(
          "path",
          { class: "qp-contour", fill: fills[i + 1], d },
          element("title", {}, `Q above ${text(levels[i])}`),
        )
      ),
      colorBar(frame, { edges: [low, ...levels, high], fills }),
    ].join("");
  }

  #dots(samples: ArrayLike<number>, { x, y }: Record<"x" | "y", Scale>) {
    const { axes: [across, up], size } = this.#plane;
    const dots: string[] = [];
    for (let i = 0; i < samples.length; i += size) {
      const first = within(across, samples[i + across.index]);
      const second = within(up, samples[i + up.index]);
      if (first === undefined || second === undefined) continue;
      const [cx, cy] = [x(first), y(second)];
      dots.push(dot(cx, cy));
    }
    return dots;
  }

  describe({ values, samples }: StateValues): string {
    const { axes, size } = this.#plane;
    const { gridSize } = this.#options;
    const place = (best: number) =>
      axes.map((axis, i) => {
        const at = i === 0 ? best % gridSize : Math.floor(best / gridSize);
        const value = this.#plane.points(axis, gridSize)[at];
        return `${axis.name} = ${inWords(value)}`;
      }).join(", ");
    const means = axes.map(({ index }) =>
      inWords(meanOf(samples, { size, index }))
    );
    return `${valuesInWords(values, place)}; the samples' mean is ${
      means.join(", ")
    }`;
  }
}

function dot(cx: number, cy: number): string {
  return element("circle", { class: "qp-dot", cx, cy, r: 2.6 });
}

function drawDot({ left, top, width, height }: Frame): string {
  return dot(left + width / 2, top + height / 2);
}

function drawColors({ left, top, width, height }: Frame): string {
  return colors.map((fill, i) =>
    element("rect", {
      fill,
      x: left + i * width / colors.length,
      y: top,
      width: width / colors.length,
      height,
    })
  ).join("");
}

/** Colours of bands, from low to high. */
function bandColors(count: number): string[] {
  const color = scaleLinear<string>()
    .domain(colors.map((_, i) => i / (colors.length - 1))).range(colors);
  return Array.from(
    { length: count },
    (_, i) => color(count === 1 ? 0.5 : i / (count - 1)),
  );
}

/** For each level a path around all that lies above it, in pixels. */
export function contourPaths(
  values: ArrayLike<number>,
  { levels, gridSize, frame }: {
    levels: number[];
    gridSize: number;
    frame: Frame;
  },
): string[] {
  const { left, top, width, height } = frame;
  // Point i of the grid comes at i + 0.5; what lies outside goes to the edge.
  const fraction = (at: number) =>
    Math.min(Math.max((at - 0.5) / (gridSize - 1), 0), 1);
  const point = ([x, y]: number[]) =>
    `${pixels(left + width * fraction(x))} ${
      pixels(top + height * (1 - fraction(y)))
    }`;
  return contours().size([gridSize, gridSize]).thresholds(levels)(
    Array.from(values),
  ).map(({ coordinates }) =>
    coordinates.flat().map((ring) => `M${ring.map(point).join("L")}Z`).join("")
  );
}

/** Draws the scale of the colours. */
function colorBar(
  { left, top, width, height }: Frame,
  { edges, fills }: { edges: readonly number[]; fills: readonly string[] },
): string {
  const bar = { left: left + width + 10, top, width: barWidth, height };
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const at = upScale(bar, [low, high]);
  const isFlat = low === high;
  const parts = fills.map((fill, i) => {
    const [y, bottom] = isFlat
      ? [top, top + height]
      : [at(edges[i + 1]), at(edges[i])];
    const size = { width: barWidth, height: bottom - y };
    return element("rect", { fill, x: bar.left, y, ...size });
  });
  const ticks = isFlat ? [{ at: at(low), text: inWords(low) }] : ticksOf(at, 6);
  return [
    ...parts,
    edgeOf(bar),
    ...ticks.map((tick) =>
      label(tick.text, {
        x: bar.left + barWidth + 5,
        y: tick.at + 4,
        style: "qp-text qp-tick",
      })
    ),
    label("Q", { x: bar.left, y: top - 7, style: "qp-text" }),
  ].join("");
}
