import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { svgOf } from "./files.ts";
import { frameOf, placing, tickTexts, valuesAt, yTicks } from "./frame.ts";

const line = (x: number[], y: number[]) => ({ name: "", color: 0, x, y });

Deno.test("ranges hold all curves from 0 on, and end at round numbers", () => {
  const { x, y } = frameOf([line([100, 98_765], [1, 5])], {
    log: false,
    zoom: null,
  });
  assertEquals(x, [0, 99_000]);
  assert(y[0] < 1 && y[1] > 5 && y[1] < 6);
});

Deno.test("heights are those of what is seen", () => {
  const curve = line([0, 1, 2, 3, 4], [1000, 1, 2, 1, 1000]);
  const { x, y } = frameOf([curve], { log: false, zoom: [1.5, 2.5] });
  assertEquals(x, [1.5, 2.5]);
  assert(y[1] < 3, String(y));
});

Deno.test("a wide band is seen in part", () => {
  const band = { ...line([0, 1], [0, 10]), low: [-999, 9], high: [1, 12] };
  const { y } = frameOf([band], { log: false, zoom: null });
  assert(y[0] > -7 && y[0] < -4, String(y));
  assert(y[1] > 12 && y[1] < 13, String(y));
});

Deno.test("logarithms leave out what has none; nothing at all has a range", () => {
  const { y } = frameOf([line([0, 1, 2], [-1, 0.1, 10])], {
    log: true,
    zoom: null,
  });
  assertEquals(y, [0.1, 10]);
  assertEquals(frameOf([], { log: false, zoom: null }).x, [0, 1]);
  assertEquals(frameOf([], { log: true, zoom: null }).y, [1, 10]);
  const flat = frameOf([line([5], [7])], { log: false, zoom: null });
  assert(flat.x[0] < flat.x[1] && flat.y[0] < 7 && flat.y[1] > 7);
});

Deno.test("places in a box go right and up", () => {
  const box = { left: 10, top: 20, width: 100, height: 50 };
  const flat = placing({ x: [0, 10], y: [0, 1], log: false }, box);
  assertEquals([flat.x(5), flat.y(0), flat.y(1)], [60, 70, 20]);
  const log = placing({ x: [0, 10], y: [1, 100], log: true }, box);
  assertEquals(Math.round(log.y(10)), 45);
});

Deno.test("values at a place are sorted, those that end before come last", () => {
  const curves = [
    line([0, 10], [0, 10]),
    line([0, 2], [9, 9]),
    line([0, 9], [8, 8]),
  ];
  assertEquals(valuesAt(curves, 5).map(({ value }) => value), [8, 5, NaN]);
});

Deno.test("ticks are short, and not two alike", () => {
  assertEquals(
    tickTexts([0, 0.5, 1500, 25_000, 2.5e6, 3e9, 1.234e-5, 1e300, null]),
    ["0", "0.5", "1500", "25k", "2.5M", "3G", "1.23e-5", "1e300", ""],
  );
  assertEquals(tickTexts([1e6, 1e6 + 1]), ["1M", "1.000001M"]);
});

Deno.test("a chart of any doubles has a frame, few ticks and finite places", () => {
  const numbers = fc.oneof(
    fc.double(),
    fc.constantFrom(-20.000000000000004, -20.000000000000007, 5e-324, 0),
  );
  fc.assert(
    fc.property(
      fc.array(numbers, { maxLength: 5 }),
      fc.array(numbers, { maxLength: 5 }),
      fc.boolean(),
      (heights, edges, log) => {
        const x = heights.map((_, i) => i * 100);
        const low = heights.map((_, i) => edges[i] ?? NaN);
        const curve = { ...line(x, heights), low, high: low };
        const frame = frameOf([curve], { log, zoom: null });
        const ticks = yTicks(frame);
        assert(ticks.length > 0 && ticks.length < 10, `${ticks}`);
        const place = placing(frame, {
          left: 0,
          top: 0,
          width: 100,
          height: 100,
        });
        const all = [...frame.y, ...ticks, ...heights].filter((it) =>
          Number.isFinite(it) && (!log || it > 0)
        );
        for (const it of all) assert(Number.isFinite(place.y(it)), `${it}`);
        const svg = svgOf({ title: "", xLabel: "", curves: [curve], frame });
        assert(!/NaN|Infinity|undefined/.test(svg), svg);
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("ticks of logarithms are powers, where there are two", () => {
  const log = true;
  assertEquals(yTicks({ y: [0.0954, 190], log }), [0.1, 1, 10, 100]);
  assertEquals(yTicks({ y: [1e-30, 1e30], log }).length, 7);
  assertEquals(yTicks({ y: [1, 5], log }), [1, 2, 3, 4, 5]);
  assertEquals(yTicks({ y: [0, 5], log: false }), [0, 1, 2, 3, 4, 5]);
});
