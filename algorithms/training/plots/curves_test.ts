import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { renderCurves, renderPanels } from "./curves.ts";
import texts from "./texts.json" with { type: "json" };
import {
  numbersOf,
  ofClass,
  parseSvg,
  textsOf,
} from "../testdata/parse_svg.ts";

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
  // Room for three digits on the left, for half of a number on the right.
  assertEquals([left, right, bottom - top], [41, 478, 212]);
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

Deno.test("numbers that rounding alone keeps apart are drawn as equal ones", () => {
  const [y, low, high] = [10, 10 - 2e-15, 10 + 2e-15].map((it) => [it, it]);
  const svg = renderCurves([{
    name: "a",
    runs: [{ x: [0, 1], y, low, high }],
  }]);
  const ticks = ["9.0", "9.5", "10.0", "10.5", "11.0"];
  assertEquals(labels(svg, "y-axis tick label"), ticks);
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
  assertEquals(textsOf(parseSvg(svg), "bp-text"), [
    "mean of the runs; band: lowest to highest",
    "one (2 runs)",
    "other",
  ]);
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

Deno.test("the last number of an axis is seen, at the edge of the data", () => {
  const ticks = (to: number) => {
    const runs = [{ x: [0, to], y: [0, 1] }];
    return labels(renderCurves([{ name: "", runs }]), "x-axis tick label");
  };
  assertEquals(ticks(199_680).at(-1), "200K");
  assertEquals(ticks(300_000).at(-1), "300K");
  assertEquals(ticks(98).at(-1), "100");
  const svg = renderCurves([{ name: "", runs: [{ x: [0, 998], y: [0, 1] }] }]);
  const [line] = pathsOf(svg, "bp-line");
  assert(line.at(-2)! > 736, `${line}`);
});

Deno.test("means of equal numbers do not lengthen the axis", () => {
  const runs = [0, 1].map(() => ({
    x: [0, 1, 3],
    y: [500.00000000000006, 0, 500],
  }));
  const svg = renderCurves([{ name: "a", runs }]);
  assertEquals(labels(svg, "y-axis tick label").at(-1), "500");
});

Deno.test("a title that is too long for a line takes two", () => {
  const title = "Product of the gradients of divergence and gain";
  const titles = (width: number) =>
    textsOf(
      parseSvg(renderCurves([{ name: "", runs: [run(1)] }], { title, width })),
      "bp-title",
    );
  assertEquals(titles(400), [
    "Product of the gradients of divergence",
    "and gain",
  ]);
  assertEquals(titles(760), [title]);
});

Deno.test("a name that is too long for the image is cut", () => {
  const runs = [run(1)];
  const [name] = textsOf(
    parseSvg(renderCurves([{ name: "a".repeat(200), runs }], { width: 400 })),
    "bp-text",
  );
  assert(name.endsWith("a…") && name.length < 55, name);
});

Deno.test("long numbers along the vertical axis have room", () => {
  const left = (...y: number[]) => {
    const svg = renderCurves([{ name: "", runs: [{ x: [0, 1], y }] }]);
    return pathsOf(svg, "bp-line")[0][0];
  };
  // Seven letters, as in 0.00110, and three.
  assertEquals(left(0.001, 0.001) - left(0, 100), 4 * 7);
  assertEquals(left(0, 25_000) - left(0, 100), 3 * 7);
});

Deno.test("each band is named", () => {
  const of = (band?: "ci" | "std" | "iqr" | "none") =>
    textsOf(
      parseSvg(renderCurves([{ name: "a", runs: [run(1), run(3)] }], { band })),
      "bp-note",
    ).join(" ");
  assertStringIncludes(of(), "95 % bootstrap interval of the mean");
  assertStringIncludes(of("std"), "one standard deviation");
  assertStringIncludes(of("iqr"), "median of the runs; band: first to third");
  assertEquals(of("none"), "mean of the runs");
  const one = renderCurves([{ name: "a", runs: [run(1)] }]);
  assertEquals(textsOf(parseSvg(one), "bp-note"), []);
});

Deno.test("a threshold is a dashed line within the image, with its text", () => {
  const svg = renderCurves([{ name: "a", runs: [run(100)] }], {
    threshold: { value: 475, label: "solved: 475" },
  });
  assertStringIncludes(svg, "stroke-dasharray");
  assertStringIncludes(svg, "solved: 475");
  assert(labels(svg, "y-axis tick label").includes("500"));
});

Deno.test("a series may choose its colour", () => {
  const svg = renderCurves([{ name: "a", color: 3, runs: [run(1)] }]);
  assertEquals(ofClass(parseSvg(svg), "bp-color0"), []);
  assertEquals(ofClass(parseSvg(svg), "bp-color3").length, 2);
});

Deno.test("panels have axes of their own and stand side by side where there is room", () => {
  const panel = (title: string, top: number) => ({
    title,
    series: [{ name: "a2c", runs: [run(top)] }],
    threshold: { value: top, label: `solved: ${top}` },
  });
  const panels = [panel("A-v0", 1), panel("B-v0", 1000), panel("C-v0", -7)];
  const places = (width: number) => {
    const svg = renderPanels(panels, { width, height: 300, title: "Return" });
    const whole = parseSvg(svg);
    const inside = Array.from(whole.getElementsByTagName("svg"))
      .filter((it) => it.getAttribute("role") === "img");
    const own = [whole, ...inside];
    assertEquals(own.map((it) => it.getAttribute("aria-label")), [
      "Return",
      ...["A-v0", "B-v0", "C-v0"],
    ]);
    for (const text of ["solved: 1<", "solved: 1000<", "solved: -7<"]) {
      assertStringIncludes(svg, text);
    }
    return own.map((it) =>
      ["x", "y", "width", "height"].map((name) => +it.getAttribute(name)!)
    );
  };
  assertEquals(places(800), [
    [0, 0, 800, 600],
    [0, 0, 400, 300],
    [400, 0, 400, 300],
    [0, 300, 400, 300],
  ]);
  assertEquals(places(400)[3], [0, 600, 400, 300]);
});

/** Contrast of two colours by their relative luminance, as WCAG defines it. */
function contrast(a: readonly number[], b: readonly number[]): number {
  const luminance = (color: readonly number[]) => {
    const [red, green, blue] = color.map((it) =>
      it <= 0.04045 * 255
        ? it / 255 / 12.92
        : ((it / 255 + 0.055) / 1.055) ** 2.4
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [luminance(a), luminance(b)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

Deno.test("bands are seen on light and dark grounds, and lines on bands", () => {
  const [light, dark] = texts["plots.css"].split("@media");
  for (const css of [light, dark]) {
    const valueOf = (name: string) =>
      css.match(RegExp(`\\.${name} \\{[^}]*?: ([^;]+);`))![1];
    const rgb = (name: string) =>
      valueOf(name).match(/[0-9a-f]{2}/g)!.map((it) => parseInt(it, 16));
    const ground = rgb("bp-ground"), opacity = Number(valueOf("bp-band"));
    for (let color = 0; color < 6; color++) {
      const line = rgb(`bp-color${color}`);
      const band = line.map((it, i) =>
        opacity * it + (1 - opacity) * ground[i]
      );
      assert(contrast(band, ground) > 1.25, `band ${color} of ${css}`);
      assert(contrast(line, band) > 1.9, `line ${color} on its band`);
    }
  }
});
