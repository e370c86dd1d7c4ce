import { assert, assertEquals } from "@std/assert";
import { DOMParser } from "@xmldom/xmldom";
import fc from "fast-check";
import { csvOf, svgOf } from "./files.ts";
import { frameOf } from "./frame.ts";

const CURVES = [
  { name: "one", color: 0, x: [0, 50, 100], y: [1, 10, 100] },
  {
    name: 'two "<b>" & more',
    color: 7,
    x: [0, 100],
    y: [5, 6],
    low: [4, 5],
    high: [6, 7],
  },
  { name: "three", color: 2, isDots: true, x: [10, 20], y: [1, NaN] },
];

const drawn = (log: boolean) => ({
  title: "Return",
  xLabel: "Steps",
  curves: CURVES,
  frame: frameOf(CURVES, { log, zoom: null }),
});

for (const log of [false, true]) {
  Deno.test(`an image has all curves, ${log ? "log" : "linear"}`, () => {
    const svg = svgOf(drawn(log));
    const document = new DOMParser().parseFromString(svg, "image/svg+xml");
    const all = (name: string) => [...document.getElementsByTagName(name)];
    assertEquals(all("polyline").length, 2);
    assertEquals(all("polygon").length, 1);
    assertEquals(all("circle").length, 1);
    const texts = all("text").map((it) => it.textContent);
    for (const { name } of CURVES) assert(texts.includes(name), name);
    assert(!/NaN|Infinity/.test(svg), svg);
  });
}

Deno.test("no name breaks an image", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const curves = [{ ...CURVES[0], name }];
      const svg = svgOf({ ...drawn(false), title: name, curves });
      const onError = (level: string, message: string) => {
        if (level !== "warning") throw new Error(`${level}: ${message}`);
      };
      new DOMParser({ onError }).parseFromString(svg, "image/svg+xml");
    }),
    { numRuns: 30 },
  );
});

Deno.test("CSV has a row for each point, and no formulas", () => {
  const formula = { name: '=HYPERLINK("x")', color: 0, x: [1], y: [-2] };
  const csv = csvOf({
    title: "Return",
    xLabel: "Steps",
    curves: [CURVES[1], formula],
  });
  assertEquals(csv.split("\r\n"), [
    "curve,Steps,Return,low,high",
    '"two ""<b>"" & more",0,5,4,6',
    '"two ""<b>"" & more",100,6,5,7',
    `"'=HYPERLINK(""x"")",1,-2,,`,
    "",
  ]);
});
