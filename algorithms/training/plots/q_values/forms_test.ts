import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  contoursOf,
  numbersOf,
  ofClass,
  pointsOf,
  textsOf,
  within,
} from "../../testdata/parse_svg.ts";
import {
  discreteAgent,
  draw,
  type Drawn,
  LINE,
  lineAgent,
  planeAgent,
  type Point,
  THREE,
} from "../../testdata/plotted.ts";
import fc from "fast-check";

Deno.test("one number that varies is a curve, over a histogram of the samples", () => {
  const q = (x: number) => 3 - (x - 0.5) ** 2;
  const svg = draw(lineAgent(q, [-2, 2, 1.99, 0.02]), {
    actionSpace: LINE,
    samples: 4,
    gridSize: 41,
  });
  const [curve] = within(svg, "bp-line", "path").flatMap(pointsOf);
  assertEquals(curve.length, 41);
  const values = curve.map((_, i) => q(-2 + i / 10));
  // Pixels are as far apart as values of Q are.
  const [top, bottom] = [Math.max(...values), Math.min(...values)];
  const heights = curve.map(([, y]) => y);
  const [highest, lowest] = [Math.min(...heights), Math.max(...heights)];
  curve.forEach(([x, y], i) => {
    assertAlmostEquals(x, curve[0][0] + i * 252 / 40, 0.11);
    const wanted = lowest -
      (values[i] - bottom) / (top - bottom) * (lowest - highest);
    assertAlmostEquals(y, wanted, 0.11);
  });
  const bars = sharesOf(svg);
  const sizes = bars.map((it) => numbersOf(it, "height")[0]);
  assertEquals(
    sizes.flatMap((size, i) => size > 0 ? [i] : []),
    [0, 20, 39],
  );
  assertAlmostEquals(sizes[39], 2 * sizes[0], 0.11);
  assertStringIncludes(
    ofClass(svg, "bp-panel")[0].firstChild!.textContent!,
    "Q from -3.25 to 3, highest at action[0] = 0.5; the samples' mean is 0.5025",
  );
});

Deno.test("discrete actions are bars of Q and of their shares", () => {
  const samples = [5, 5, 5, 7];
  const svg = draw(discreteAgent([1, -2, 4], samples), {
    actionSpace: THREE,
    samples: 4,
  });
  const [low, none, high] = within(svg, "bp-color0", "rect").slice(1)
    .map((it) => numbersOf(it, "y", "height"));
  // Bars begin at 0: upwards, downwards.
  assertAlmostEquals(low[0] + low[1], none[0], 0.2);
  assertAlmostEquals(none[1], 2 * low[1], 0.2);
  assertAlmostEquals(high[1], 4 * low[1], 0.4);
  const shares = sharesOf(svg).map((it) => numbersOf(it, "height")[0]);
  assertAlmostEquals(shares[0], 3 * shares[2], 0.3);
  assertEquals(shares[1], 0);
  assertStringIncludes(textsOf(svg, "bp-chart")[1], "567action");
  assertStringIncludes(
    ofClass(svg, "bp-panel")[0].firstChild!.textContent!,
    "Q from -2 to 4, highest at action = 7; 75% of the samples are action 5",
  );
});

/** From pixels of the first panel to the units of two axes. */
function unitsOf(
  svg: Drawn,
  [[left, right], [low, high]]: readonly (readonly [number, number])[],
): (point: Point) => Point {
  const [field] = ofClass(svg, "bp-chart");
  const [width, height] = numbersOf(field, "width", "height");
  return ([px, py]) => [
    left + px / width * (right - left),
    high - py / height * (high - low),
  ];
}

/** Whether a ray from the point crosses the rings an odd number of times. */
function isInside(rings: readonly Point[][], [x, y]: Point): boolean {
  let inside = false;
  for (const ring of rings) {
    ring.forEach(([x1, y1], i) => {
      const [x2, y2] = ring[(i + 1) % ring.length];
      if ((y1 > y) === (y2 > y)) return;
      if (x < x1 + (y - y1) / (y2 - y1) * (x2 - x1)) inside = !inside;
    });
  }
  return inside;
}

/** The value of Q that a contour is above. */
function levelOf(contour: Drawn): number {
  const text = contour.textContent!;
  return Number(text.replace("−", "-").replaceAll(",", ""));
}

/** The bars that show shares of the samples. */
function sharesOf(svg: Drawn): Drawn[] {
  return within(svg, "bp-color1", "rect").slice(1);
}

const PLANE_LIMITS = [[-2, 1], [0, 4]] as const;

Deno.test("the best action lies inside all contours, each at its value of Q", () => {
  const grid = fc.integer({ min: 1, max: 48 });
  fc.assert(
    fc.property(grid, grid, fc.double({ min: 0.01, max: 1e3, noNaN: true }), (
      i,
      j,
      scale,
    ) => {
      const best: Point = [-2 + 3 * i / 49, 4 * j / 49];
      const q = (x: number, y: number) =>
        7 - scale * ((x - best[0]) ** 2 + (y - best[1]) ** 2);
      const svg = draw(planeAgent(q));
      const toUnits = unitsOf(svg, PLANE_LIMITS);
      const contours = contoursOf(svg);
      assert(contours.length >= 12 && contours.length <= 33);
      let last = -Infinity;
      for (const contour of contours) {
        const level = levelOf(contour);
        assert(level > last, "levels rise");
        last = level;
        const rings = pointsOf(contour).map((ring) => ring.map(toUnits));
        const isEdge = ([x, y]: Point) =>
          Math.min(x + 2, 1 - x) < 1e-3 || Math.min(y, 4 - y) < 1e-3;
        const points = rings.flat().filter((it) => !isEdge(it));
        // Q is at its level, but for what its curvature does within a cell.
        for (const [x, y] of points) {
          assertAlmostEquals(q(x, y), level, scale * 0.02);
        }
        // The innermost one may be smaller than what pixels are rounded to.
        const isNear = points.some(([x, y]) =>
          Math.hypot(x - best[0], y - best[1]) < 0.01
        );
        assert(isInside(rings, [best[0] + 1e-9, best[1] + 1e-9]) || isNear);
      }
    }),
    { seed: 1, numRuns: 25 },
  );
});

Deno.test("what is above a level is inside of its contour, and nothing else", () => {
  const q = (x: number, y: number) =>
    Math.sin(2 * x) * Math.cos(1.5 * y) + x / 3;
  const svg = draw(planeAgent(q));
  const toUnits = unitsOf(svg, PLANE_LIMITS);
  for (const contour of contoursOf(svg)) {
    const level = levelOf(contour);
    const rings = pointsOf(contour).map((ring) => ring.map(toUnits));
    for (let x = -1.99; x < 1; x += 0.11) {
      for (let y = 0.01; y < 4; y += 0.13) {
        if (Math.abs(q(x, y) - level) < 0.02) continue;
        assertEquals(isInside(rings, [x, y]), q(x, y) > level, `${x} ${y}`);
      }
    }
  }
});

Deno.test("a dot lies where a sample is", () => {
  const samples: Point[] = [[-2, 0], [1, 4], [0.3, 1.7], [-1.2, 3]];
  const svg = draw(planeAgent((x) => x, samples), { samples: 4 });
  const toUnits = unitsOf(svg, PLANE_LIMITS);
  // Axes stand left of the field and the colours above it.
  const [field, , chart] = ofClass(svg, "bp-chart").map((it) =>
    numbersOf(it, "x", "y")
  );
  const dots = within(svg, "bp-samples", "circle").map((it) => {
    const [x, y] = numbersOf(it, "cx", "cy");
    return toUnits([x + chart[0] - field[0], y + chart[1] - field[1]]);
  });
  assertEquals(dots.length, samples.length);
  dots.forEach(([x, y], i) => {
    assertAlmostEquals(x, samples[i][0], 1e-3);
    assertAlmostEquals(y, samples[i][1], 1e-3);
  });
});
