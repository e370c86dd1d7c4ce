/// <reference lib="dom" />
import {
  commonPlaces,
  drawable,
  heightsAt,
  logAxis,
  rangeAround,
  ticksOver,
} from "@bellman/statistics";
import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "preact/hooks";
import type { JSX } from "preact";
import UPlot from "uplot";
import { number } from "./format.ts";
import { COLORS, type Curve } from "./groups.ts";
import { download, Swatch } from "./parts.tsx";

/**
 * Largest number of points of a chart, height in pixels, and largest number of names
 * below it.
 */
const MOST_PLACES = 800, HEIGHT = 260, MOST_NAMES = 12;
/** Dash patterns of the first colours, of the next ones, and so on. */
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
/** Series of a curve: its line, and the bounds of its band. */
const SERIES = 3;

type Range = [from: number, to: number];

/** Properties of a chart. */
export interface ChartProps {
  title: string;
  curves: readonly Curve[];
  xLabel: string;
  log: boolean;
  zoom: Readonly<Range> | null;
  /** Charts with the same name share the pointer's position. */
  group: string;
  onZoom(zoom: Range | null): void;
}

/** Data of a plot. */
interface Drawn {
  data: UPlot.AlignedData;
  curves: readonly Curve[];
  /** Whole and visible range of x. */
  whole: Range;
  x: Range;
  y: Range;
}

/** Reads a colour of the style sheet. */
function themed(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}

/** Returns the whole range of x, from 0 if it begins near it. */
function wholeRange(x: readonly number[]): Range {
  if (x.length === 0) return [0, 1];
  const first = drawable(x[0]), last = drawable(x[x.length - 1]);
  const from = first > 0 && first < 0.2 * last ? 0 : first;
  if (last - from > 1e-9 * Math.abs(last)) return [from, last];
  return [from, from + Math.max(1, 1e-9 * Math.abs(from))];
}

/** Computes the data of a plot: all curves at the same x coordinates. */
export function drawnOf(
  curves: readonly Curve[],
  { log, zoom }: Pick<ChartProps, "log" | "zoom">,
): Drawn {
  const places = commonPlaces(curves, MOST_PLACES), whole = wholeRange(places);
  const x: Range = zoom === null ? whole : [...zoom];
  let low = Infinity, high = -Infinity;
  const column = (curve: Curve, y: readonly number[]) =>
    heightsAt({ x: curve.x, y }, places).map((value, i) => {
      if (Number.isNaN(value) || log && value <= 0) return null;
      const height = drawable(value);
      // Includes the neighbours of the visible range, so that lines lead into it.
      if (
        (places[i + 1] ?? Infinity) >= x[0] &&
        (places[i - 1] ?? -Infinity) <= x[1]
      ) {
        low = Math.min(low, height);
        high = Math.max(high, height);
      }
      return height;
    });
  const columns = curves.flatMap((curve) =>
    [curve.y, curve.low, curve.high].map((it) =>
      it === undefined ? places.map(() => null) : column(curve, it)
    )
  );
  if (!(low <= high)) [low, high] = log ? [1, 10] : [0, 1];
  const y = log ? logAxis(low, high).range : rangeAround(low, high, 0.04);
  return { data: [places, ...columns], curves, whole, x, y };
}

/** Formats tick labels: short, but distinct. */
export function tickTexts(ticks: readonly (number | null)[]): string[] {
  for (let digits = 6;; digits++) {
    const texts = ticks.map((it) => it === null ? "" : tickText(it, digits));
    if (digits === 17 || new Set(texts).size === texts.length) return texts;
  }
}

function tickText(value: number, digits: number): string {
  const size = Math.abs(value);
  const text = (it: number) => String(Number(it.toPrecision(digits)));
  if (size >= 1e12) return text(value).replace("e+", "e");
  if (size >= 1e9) return `${text(value / 1e9)}G`;
  if (size >= 1e6) return `${text(value / 1e6)}M`;
  if (size >= 1e4) return `${text(value / 1e3)}k`;
  return size > 0 && size < 1e-3
    ? Number(value.toPrecision(digits - 3)).toExponential()
    : text(value);
}

/** Makes an axis with ticks chosen here: the library loops forever for some doubles. */
function axis(
  ticks: () => number[],
  rest: Pick<UPlot.Axis, "label" | "size">,
): UPlot.Axis {
  const edge = { stroke: () => themed("--edge"), width: 1 };
  return {
    ...rest,
    stroke: () => themed("--soft"),
    grid: edge,
    ticks: edge,
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    labelSize: 18,
    incrs: (_plot, _axis, low, high) => [Math.max(5, high - low)],
    splits: ticks,
    filter: (_, places) => places,
    values: (_, places) => tickTexts(places),
  };
}

/** Makes the series of curves, with bands between their bounds. */
function seriesOf(
  curves: readonly Curve[],
): Pick<UPlot.Options, "series" | "bands"> {
  const isMany = curves.length > 40;
  const color = (it: Curve) => themed(`--color${it.color % COLORS}`);
  const points = { show: false };
  return {
    series: [
      {},
      ...curves.flatMap((curve): UPlot.Series[] => [
        {
          stroke: () => color(curve),
          width: isMany ? 1 : 1.75,
          dash: DASHES[Math.floor(curve.color / COLORS) % DASHES.length],
          // A single point has no line.
          points: {
            show: curve.x.length === 1,
            size: 6,
            fill: () => color(curve),
          },
        },
        { points, width: 0 },
        { points, width: 0 },
      ]),
    ],
    bands: curves.flatMap((curve, i) =>
      curve.low === undefined ? [] : [{
        series: [SERIES * i + 3, SERIES * i + 2] as [number, number],
        fill: () =>
          `color-mix(in srgb, ${color(curve)} ${
            isMany ? 8 : 20
          }%, transparent)`,
      }]
    ),
  };
}

/** Draws curves with bands, with the values at the pointer below. */
export function Chart(props: ChartProps): JSX.Element {
  const { title, curves, xLabel, log, zoom, group } = props;
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>();
  const shown = useRef<Drawn>();
  const events = useRef(props);
  const [pointed, setPointed] = useState<number | null>(null);
  events.current = props;
  const [from, to] = zoom ?? [];
  const drawn = useMemo(() => drawnOf(curves, { log, zoom }), [
    ...[curves, log, from, to],
  ]);
  shown.current = drawn;
  const looks = JSON.stringify([
    ...curves.map((it) => [it.color, it.low !== undefined, it.x.length === 1]),
    ...[xLabel, log],
  ]);

  useLayoutEffect(() => {
    const parent = element.current!;
    const created = new UPlot(
      {
        width: parent.clientWidth || 400,
        height: HEIGHT,
        ...seriesOf(curves),
        scales: {
          x: { time: false, range: () => shown.current!.x },
          y: { distr: log ? 3 : 1, range: () => shown.current!.y },
        },
        legend: { show: false },
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false },
          sync: { key: group },
          bind: { dblclick: () => () => (events.current.onZoom(null), null) },
        },
        axes: [
          axis(() => ticksOver(...shown.current!.x, 6).ticks, {
            label: xLabel,
            size: 34,
          }),
          axis(() => {
            const { y } = shown.current!;
            return log ? logAxis(...y).ticks : ticksOver(...y, 6).ticks;
          }, { size: 64 }),
        ],
        hooks: {
          setCursor: [({ cursor: { idx, left = -1 } }) => {
            if (left >= 0) setPointed(idx ?? null);
          }],
          setSelect: [(plot) => {
            const { left, width } = plot.select;
            if (width < 3) return;
            const [from, to] = [left, left + width]
              .map((pixels) => plot.posToVal(pixels, "x"));
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            events.current.onZoom([from, to]);
          }],
        },
      },
      drawn.data,
      parent,
    );
    plot.current = created;
    const observer = new ResizeObserver(() => {
      const { clientWidth: width } = parent;
      if (width > 0) created.setSize({ width, height: HEIGHT });
    });
    observer.observe(parent);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => created.redraw();
    dark.addEventListener("change", redraw);
    return () => {
      dark.removeEventListener("change", redraw);
      observer.disconnect();
      created.destroy();
    };
  }, [looks]);

  useEffect(() => plot.current!.setData(drawn.data), [drawn]);

  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event, { onZoom } = props, places = drawn.data[0];
    const last = places.length - 1, { x, whole } = drawn;
    const at = Math.min(last, pointed ?? Math.floor(last / 2));
    const step = Math.max(1, Math.round(last / 50));
    const moves: Record<string, number> = {
      ArrowLeft: at - step,
      ArrowRight: at + step,
      Home: 0,
      End: last,
    };
    const zooms: Record<string, number> = { "+": 0.5, "=": 0.5, "-": 2 };
    if (key in moves) {
      const next = Math.min(last, Math.max(0, moves[key]));
      setPointed(next);
      const left = plot.current!.valToPos(places[next], "x");
      plot.current!.setCursor({ left, top: 1 });
    } else if (key in zooms) {
      const factor = zooms[key];
      const from = Math.max(
        whole[0],
        places[at] - (places[at] - x[0]) * factor,
      );
      const to = Math.min(whole[1], places[at] + (x[1] - places[at]) * factor);
      const isWhole = from <= whole[0] && to >= whole[1];
      if (from < to) onZoom(isWhole ? null : [from, to]);
    } else if (key === "0" || key === "Escape") onZoom(null);
    else return;
    event.preventDefault();
  };

  return (
    <figure class="card">
      <figcaption>
        <h3>{title}</h3>
        <button
          type="button"
          class="small"
          aria-label={`Download ${title} as PNG`}
          onClick={() =>
            plot.current!.ctx.canvas.toBlob((it) =>
              it && download(`${title}.png`, it)
            )}
        >
          PNG
        </button>
        <button
          type="button"
          class="small"
          aria-label={`Download ${title} as CSV`}
          onClick={() =>
            download(
              `${title}.csv`,
              new Blob([csvOf(drawn, xLabel)], { type: "text/csv" }),
            )}
        >
          CSV
        </button>
      </figcaption>
      <div
        class="plot"
        ref={element}
        tabIndex={0}
        role="group"
        aria-label={`${title} by ${xLabel}: ${curves.length} curves. Arrow keys move the pointer, plus and minus zoom, 0 shows all`}
        onKeyDown={onKey}
      />
      <Values {...{ drawn, pointed, xLabel }} />
    </figure>
  );
}

/** Lists the values at the pointer, or the last ones, highest first. */
function Values(
  { drawn: { data, curves }, pointed, xLabel }: {
    drawn: Drawn;
    pointed: number | null;
    xLabel: string;
  },
): JSX.Element {
  const at = pointed === null ? undefined : data[0][pointed];
  const values = curves.map((curve, i) => ({
    curve,
    value: at === undefined
      ? curve.y.at(-1)
      : data[SERIES * i + 1][pointed!] ?? undefined,
  })).sort((a, b) => (b.value ?? -Infinity) - (a.value ?? -Infinity) || 0);
  const rest = values.length - MOST_NAMES;
  return (
    <>
      <p class="soft at">
        {at === undefined
          ? "Last values"
          : `At ${number(at)} (${xLabel.toLowerCase()})`}
      </p>
      <ol class="values">
        {values.slice(0, MOST_NAMES).map(({ curve, value }) => (
          <li key={`${curve.name} ${curve.color}`}>
            <Swatch color={curve.color} />
            <span class="name" title={curve.name}>{curve.name}</span>
            <b>{number(value)}</b>
          </li>
        ))}
        {rest > 0 && <li class="soft">and {rest} more</li>}
      </ol>
    </>
  );
}

/** Writes the data as CSV: a row for each point of each curve. */
export function csvOf(
  { curves }: Pick<Drawn, "curves">,
  xLabel: string,
): string {
  const cell = (cellText: string) => {
    // Spreadsheets may evaluate texts as formulas.
    const text = /^[=+\-@\t\r]/.test(cellText) ? `'${cellText}` : cellText;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = curves.flatMap(({ name, x, y, low, high }) =>
    x.map((at, i) =>
      [cell(name), at, y[i], low?.[i] ?? "", high?.[i] ?? ""].join()
    )
  );
  return [`Curve,${cell(xLabel)},Value,Low,High`, ...rows, ""].join("\r\n");
}
