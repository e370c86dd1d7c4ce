import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  averageRuns,
  finitePoints,
  renderCurves,
  sampleEvenly,
  smooth,
  thin,
  valueAt,
} from "./curves.ts";
import {
  numbersOf,
  ofClass,
  parseSvg,
  textsOf,
} from "../testdata/parse_svg.ts";
import fc from "fast-check";

const run = (top: number) => ({ x: [0, 500, 1000], y: [0, top / 2, top] });

/** The numbers of the paths with a class, one list each. */
function pathsOf(svg: string, name: string): number[][] {
  return ofClass(parseSvg(svg), name).flatMap((it) =>
    Array.from(it.getElementsByTagName("path"))
  ).map((path) => path.getAttribute("d")!.match(/-?[\d.]+/g)!.map(Number));
}

/** The texts of what has a label. */
function labels(svg: string, label: string): string[] {
  return Array.from(parseSvg(svg).getElementsByTagName("g"))
    .filter((it) => it.getAttribute("aria-label") === label)
    .flatMap((it) => Array.from(it.getElementsByTagName("text")))
    .map((it) => it.textContent!);
}

Deno.test("a straight line is drawn from corner to corner", () => {
  const svg = renderCurves([{ name: "a", runs: [run(100)] }], {
    width: 500,
    height: 300,
  });
  const [path] = pathsOf(svg, "bp-line");
  const [left, bottom, middle, half, right, top] = path;
  assertEquals([left, right, bottom - top], [60, 480, 212]);
  assertEquals(middle, (left + right) / 2);
  assertEquals(half, (bottom + top) / 2);
});

Deno.test("ticks are round numbers with short texts", () => {
  const svg = renderCurves([{
    name: "a",
    runs: [{ x: [100, 200_000], y: [8, 487] }],
  }]);
  assertEquals(
    labels(svg, "y-axis tick label"),
    ["0", "100", "200", "300", "400", "500"],
  );
  assertEquals(
    labels(svg, "x-axis tick label"),
    ["0", "50K", "100K", "150K", "200K"],
  );
  const ticksFor = (...y: number[]) =>
    labels(
      renderCurves([{ name: "", runs: [{ x: [0, 1], y }] }]),
      "y-axis tick label",
    );
  assert(ticksFor(0, 7e-4).includes("2E-4"));
  assert(ticksFor(-4e6, 0).includes("-4M"));
});

Deno.test("several runs are their mean within a band", () => {
  const svg = renderCurves([
    { name: "one", runs: [run(100), run(300)] },
    { name: "other", runs: [run(50)] },
  ], { band: "range" });
  const [band, ...others] = pathsOf(svg, "bp-band");
  assertEquals(others, []);
  const [line] = pathsOf(svg, "bp-line");
  // The band's last upper point is the highest run's, and ends with the line.
  assertEquals(band[2 * 299], line.at(-2));
  assert(band[2 * 299 + 1] < line.at(-1)!);
  assertEquals(textsOf(parseSvg(svg), "bp-text"), ["one (2 runs)", "other"]);
});

Deno.test("smoothing leaves the raw line, faintly", () => {
  const noisy = {
    x: Array.from({ length: 50 }, (_, i) => i),
    y: Array.from({ length: 50 }, (_, i) => i % 2),
  };
  const series = [{ name: "", runs: [noisy] }];
  assertEquals(pathsOf(renderCurves(series), "bp-raw"), []);
  const svg = renderCurves(series, { smoothing: 0.2 });
  assertEquals(pathsOf(svg, "bp-raw").length, 1);
});

Deno.test("dots lie under the lines and are not too many", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => i);
  const svg = renderCurves([
    { name: "line", runs: [run(5)] },
    { name: "episodes", style: "dots", runs: [{ x: many, y: many }] },
  ]);
  const dots = svg.indexOf('bp-dots" ');
  assert(dots > 0 && dots < svg.indexOf('bp-line" '));
  assert(svg.match(/<circle/g)!.length <= 1501);
});

Deno.test("no data, one point and constant lines are drawn", () => {
  const empty = renderCurves([{ name: "a", runs: [{ x: [1], y: [NaN] }] }]);
  assertEquals(labels(empty, "text"), ["no data"]);
  assertEquals(renderCurves([]).includes("NaN"), false);
  const point = renderCurves([{ name: "a", runs: [{ x: [5], y: [5] }] }]);
  assertStringIncludes(point, "<circle");
  assertEquals(point.includes("NaN"), false);
  for (const y of [0, 500, -3]) {
    const flat = renderCurves([{
      name: "a",
      runs: [{ x: [0, 9], y: [y, y] }],
    }]);
    assertEquals(flat.includes("NaN"), false);
    assertEquals(flat.includes("Infinity"), false);
  }
});

Deno.test("texts are escaped", () => {
  const svg = renderCurves([{ name: '<b> & "c"', runs: [run(1)] }], {
    title: "a < b",
  });
  assertStringIncludes(svg, "&lt;b&gt; &amp; &quot;c&quot;");
  assertStringIncludes(svg, 'aria-label="a &lt; b"');
  assertEquals(svg.includes("<b>"), false);
});

Deno.test("a long legend takes more rows and the plot starts lower", () => {
  const series = Array.from({ length: 9 }, (_, i) => ({
    name: `a long name of a run, number ${i}`,
    runs: [run(100)],
  }));
  const rows = (svg: string) =>
    new Set([...svg.matchAll(/translate\([\d.]+ (\d+)\)/g)].map(([, y]) => y))
      .size;
  const [long, short] = [
    renderCurves(series),
    renderCurves(series.slice(0, 1)),
  ];
  assertEquals(rows(short), 1);
  assert(rows(long) >= 3);
  const top = (svg: string) =>
    numbersOf(ofClass(parseSvg(svg), "bp-chart")[0], "y")[0];
  assert(top(long) > top(short));
});

Deno.test("the image carries its colours for light and dark grounds", () => {
  const svg = renderCurves([{ name: "a", runs: [run(1)] }]);
  assertStringIncludes(svg, "prefers-color-scheme:dark");
  assert(!/<script|href=|url\(/.test(svg));
});

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

Deno.test("points that are not finite are left out, with their band", () => {
  assertEquals(
    finitePoints({
      x: [1, 2, 3, 4],
      y: [NaN, 5, 6, 7],
      low: [0, 1, 2, 3],
      high: [9, 9, Infinity, 9],
    }),
    { x: [2, 4], y: [5, 7], low: [1, 3], high: [9, 9] },
  );
});

Deno.test("thinning takes means of neighbours", () => {
  assertEquals(thin({ x: [0, 1, 2, 3], y: [1, 3, 10, 20] }, 2), {
    x: [0.5, 2.5],
    y: [2, 15],
    low: undefined,
    high: undefined,
  });
  const short = { x: [0, 1], y: [1, 3] };
  assertEquals(thin(short, 2), short);
});

Deno.test("thinning keeps the mean of the whole", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), (bins) => {
      const line = {
        x: range(bins * 7),
        y: range(bins * 7).map((i) => i ** 2),
      };
      const mean = (y: number[]) => y.reduce((a, b) => a + b) / y.length;
      assertAlmostEquals(mean(thin(line, bins).y), mean(line.y), 1e-6);
    }),
  );
});

Deno.test("smoothing keeps straight lines as they are", () => {
  const line = { x: range(20), y: range(20).map((i) => 3 * i) };
  smooth(line, 4).y.forEach((y, i) => assertAlmostEquals(y, 3 * i));
  assertEquals(smooth({ x: range(5), y: [0, 0, 6, 0, 0] }, 1).y, [
    0,
    2,
    2,
    2,
    0,
  ]);
});

Deno.test("a line is read between its points, not beyond", () => {
  const line = { x: [0, 10, 10, 20], y: [0, 5, 7, 9] };
  assertEquals([-1, 0, 5, 10, 15, 20, 21].map((at) => valueAt(line, at)), [
    undefined,
    0,
    2.5,
    7,
    8,
    9,
    undefined,
  ]);
  assertEquals(valueAt({ x: [3], y: [4] }, 3), 4);
});

Deno.test("runs are averaged where they are, with a spread", () => {
  const runs = [{ x: [0, 10], y: [0, 10] }, { x: [0, 20], y: [4, 4] }];
  assertEquals(averageRuns(runs, "std", 3), {
    x: [0, 10, 20],
    y: [2, 7, 4],
    low: [0, 4, 4],
    high: [4, 10, 4],
  });
  assertEquals(averageRuns(runs, "range", 3).low, [0, 4, 4]);
  const three = [{ x: [0], y: [0] }, { x: [0], y: [3] }, { x: [0], y: [9] }];
  const { y: [mean], low: [low], high: [high] } = averageRuns(
    three,
    "std",
    1,
  ) as Required<ReturnType<typeof averageRuns>>;
  assertEquals(mean, 4);
  assertAlmostEquals(high - low, 2 * Math.sqrt(14));
});

Deno.test("sampling keeps points as they are, up to a count", () => {
  const line = { x: range(100), y: range(100) };
  const { x } = sampleEvenly(line, 30);
  assertEquals(x.slice(0, 3), [0, 4, 8]);
  assertEquals(x.length, 25);
});
