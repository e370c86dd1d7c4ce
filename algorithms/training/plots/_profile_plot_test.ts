import {
  assertAlmostEquals,
  assertEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  numbersOf,
  ofClass,
  pointsOf,
  textsOf,
} from "../testdata/parse_svg.ts";
import {
  discreteAgent,
  draw,
  LINE,
  lineAgent,
  planeAgent,
  THREE,
} from "../testdata/plotted.ts";

Deno.test("one number that varies is a curve, over a histogram of the samples", () => {
  const q = (x: number) => 3 - (x - 0.5) ** 2;
  const svg = draw(lineAgent(q, [-2, 2, 1.99, 0.02]), {
    actionSpace: LINE,
    samples: 4,
    gridSize: 41,
  });
  const [curve] = ofClass(svg, "qp-line").slice(-1).flatMap(pointsOf);
  assertEquals(curve.length, 41);
  const values = curve.map((_, i) => q(-2 + i / 10));
  // Pixels are as far apart as values of Q are.
  const [top, bottom] = [Math.max(...values), Math.min(...values)];
  const heights = curve.map(([, y]) => y);
  const [highest, lowest] = [Math.min(...heights), Math.max(...heights)];
  curve.forEach(([x, y], i) => {
    assertAlmostEquals(x, curve[0][0] + i * 250 / 40, 0.11);
    const wanted = lowest -
      (values[i] - bottom) / (top - bottom) * (lowest - highest);
    assertAlmostEquals(y, wanted, 0.11);
  });
  const bars = ofClass(svg, "qp-share").slice(1);
  const sizes = bars.map((it) => numbersOf(it, "height")[0]);
  assertEquals(
    sizes.flatMap((size, i) => size > 0 ? [i] : []),
    [0, 20, 39],
  );
  assertAlmostEquals(sizes[39], 2 * sizes[0], 0.11);
  assertStringIncludes(
    ofClass(svg, "qp-panel")[0].firstChild!.textContent!,
    "Q from -3.25 to 3, highest at action[0] = 0.5; the samples' mean is 0.5025",
  );
});

Deno.test("one axis of a larger action is a curve, too", () => {
  const agent = planeAgent((x, y) => x + 10 * y, [[0.9, 2]]);
  const svg = draw(agent, { defaultAction: [-1, NaN] });
  assertStringIncludes(
    ofClass(svg, "qp-panel")[0].firstChild!.textContent!,
    "Q from -1 to 39, highest at action[1] = 4; the samples' mean is 2",
  );
});

Deno.test("discrete actions are bars of Q and of their shares", () => {
  const samples = [5, 5, 5, 7];
  const svg = draw(discreteAgent([1, -2, 4], samples), {
    actionSpace: THREE,
    samples: 4,
  });
  const [low, none, high] = ofClass(svg, "qp-bar").slice(1).map((it) =>
    numbersOf(it, "y", "height")
  );
  // Bars begin at 0: upwards, downwards.
  assertAlmostEquals(low[0] + low[1], none[0], 0.2);
  assertAlmostEquals(none[1], 2 * low[1], 0.2);
  assertAlmostEquals(high[1], 4 * low[1], 0.4);
  const shares = ofClass(svg, "qp-share").slice(1).map((it) =>
    numbersOf(it, "height")[0]
  );
  assertAlmostEquals(shares[0], 3 * shares[2], 0.3);
  assertEquals(shares[1], 0);
  const ticks = textsOf(svg, "qp-tick");
  assertEquals(ticks.slice(-3), ["5", "6", "7"]);
  assertStringIncludes(
    ofClass(svg, "qp-panel")[0].firstChild!.textContent!,
    "Q from -2 to 4, highest at action = 7; 75% of the samples are action 5",
  );
});
