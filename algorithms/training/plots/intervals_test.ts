import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { numbersOf, parseSvg, textsOf, within } from "../testdata/parse_svg.ts";
import { renderIntervals } from "./intervals.ts";

const rows = [
  { name: "a2c", value: 410, interval: [380, 440] },
  { name: "ppo", value: 480, interval: null },
  { name: "sac", value: 460, interval: [455, 500] },
] as const;

Deno.test("a row has a dot, and a bar from end to end where it has an interval", () => {
  const root = parseSvg(renderIntervals([{ title: "Mean", rows }]));
  const dots = within(root, "bp-fill", "circle");
  assertEquals(dots.length, 3);
  const [a2c, ppo, sac] = dots.map((it) => numbersOf(it, "cx", "cy"));
  assert(a2c[0] < sac[0] && sac[0] < ppo[0] && a2c[1] < ppo[1]);
  const bars = within(root, "bp-band", "line")
    .map((it) => numbersOf(it, "x1", "x2", "y1"));
  assertEquals(bars.length, 2);
  // 30 to each side of 410; the axis is linear.
  const pixels = (ppo[0] - a2c[0]) / 70;
  assert(Math.abs(bars[0][0] - (a2c[0] - 30 * pixels)) < 0.1);
  assert(Math.abs(bars[0][1] - (a2c[0] + 30 * pixels)) < 0.1);
  assertEquals(bars[0][2], a2c[1]);
});

Deno.test("panels stand in two columns, below each other where it is narrow", () => {
  const panels = ["Mean", "Median", "IQM"].map((title) => ({ title, rows }));
  const placesAt = (width: number) => {
    const root = parseSvg(renderIntervals(panels, { width, title: "Scores" }));
    return within(root, "bp-chart", "g").length > 0 &&
      Array.from(root.getElementsByTagName("svg"))
        .map((it) => numbersOf(it, "x", "y"));
  };
  const [first, second, third] = placesAt(760) as number[][];
  assertEquals([second[0], second[1]], [first[0] + 380, first[1]]);
  assertEquals(third[0], first[0]);
  assert(third[1] > first[1]);
  const narrow = placesAt(400) as number[][];
  assertEquals(new Set(narrow.map(([x]) => x)).size, 1);
});

Deno.test("numbers that rounding alone keeps apart are drawn as equal ones", () => {
  const interval = [10 - 2e-15, 10 + 2e-15] as const;
  const rows = [{ name: "a", value: 10, interval }];
  const root = parseSvg(renderIntervals([{ title: "Mean", rows }]));
  const [[left, right]] = within(root, "bp-band", "line")
    .map((it) => numbersOf(it, "x1", "x2"));
  assert(right - left < 1);
});

Deno.test("one row, equal values, long names, a reference and texts", () => {
  const name = "a variant with a name that does not end";
  const svg = renderIntervals([{
    title: "P(X > Y)",
    rows: [{ name, value: 0.5, interval: [0.5, 0.5] }],
    reference: 0.5,
  }], { title: "Scores & more", subtitle: "few runs" });
  const root = parseSvg(svg);
  assertEquals(textsOf(root, "bp-text"), ["Scores & more", "few runs"]);
  assertStringIncludes(svg, `${name.slice(0, 23)}…`);
  assertEquals(within(root, "bp-threshold", "line").length, 1);
  assertEquals(svg.includes("NaN"), false);
  assertStringIncludes(renderIntervals([]), "<svg");
});

Deno.test("an infinite end or reference is at the edge", () => {
  const interval = [10, Infinity] as const;
  const rows = [{ name: "a", value: 10, interval }];
  const panel = { title: "Mean", rows, reference: -Infinity };
  const root = parseSvg(renderIntervals([panel], { width: 500 }));
  const [[left, right]] = within(root, "bp-band", "line")
    .map((it) => numbersOf(it, "x1", "x2"));
  const [[edge]] = within(root, "bp-threshold", "line")
    .map((it) => numbersOf(it, "x1"));
  assert(edge < left && left < right && right < 500);
});
