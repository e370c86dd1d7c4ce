import { assertEquals, assertStringIncludes } from "@std/assert";
import { parseSvg } from "../testdata/parse_svg.ts";
import {
  renderBars,
  renderParallelCoordinates,
  renderSlices,
  type TrialAxis,
} from "./search_figures.ts";

const AXES: TrialAxis[] = [
  { name: "learningRate", values: [1e-5, 1e-3, 1e-1], log: true },
  { name: "numSteps", values: ["16", "5", "16"] },
  { name: "network <", values: ["mlp", '"cnn"', "mlp"] },
];
const SCORES = [10, 500, -3];

/** Returns the texts of an image, in their order. */
function textsOf(svg: string): string[] {
  parseSvg(svg);
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, it]) => it);
}

/** Counts the marks of an image. */
function count(svg: string, tag: string): number {
  return svg.split(`<${tag} `).length - 1;
}

Deno.test("slices have a dot for each trial and setting", () => {
  const svg = renderSlices(AXES, SCORES, { title: "Slices", label: "Return" });
  assertEquals(count(svg, "circle"), 9);
  const texts = textsOf(svg);
  for (const { name } of AXES) {
    assertEquals(texts.includes(name.replace("<", "&lt;")), true, name);
  }
  // Numbers by their size, whatever the order of the trials.
  assertEquals(texts.indexOf("5") < texts.indexOf("16"), true);
  assertEquals(count(renderSlices(AXES, SCORES, { width: 400 }), "circle"), 9);
});

Deno.test("parallel coordinates have a line for each trial and the ends of each axis", () => {
  const svg = renderParallelCoordinates(AXES, SCORES, { label: "Return" });
  const texts = textsOf(svg);
  for (
    const text of ["0.00001", "0.1", "5", "16", "mlp", "-3", "500", "Return"]
  ) {
    assertEquals(texts.includes(text), true, text);
  }
  // The best one is drawn most strongly.
  const strong = [...svg.matchAll(/stroke-opacity="([\d.]+)"/g)]
    .map(([, it]) => Number(it));
  assertEquals(Math.max(...strong), 0.86);
});

Deno.test("each value has a bar", () => {
  const bars = [{ name: "a", value: 0.7 }, { name: "b", value: 0.3 }];
  const svg = renderBars(bars, { title: "Importances" });
  // One rectangle is the ground.
  assertEquals(count(svg, "rect"), 3);
  assertStringIncludes(svg, 'aria-label="Importances"');
});

Deno.test("figures of no trials, and of trials that are all the same, are images", () => {
  for (const scores of [[], [1], [2, 2]]) {
    const axes = [{ name: "a", values: scores.map(() => 3) }, {
      name: "b",
      values: scores.map(() => "x"),
    }];
    parseSvg(renderSlices(axes, scores));
    parseSvg(renderParallelCoordinates(axes, scores));
    parseSvg(renderBars(scores.map((value) => ({ name: "a", value }))));
  }
});
