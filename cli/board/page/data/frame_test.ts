import { assert, assertEquals } from "@std/assert";
import {
  frameOf,
  placing,
  ticksOf,
  tickText,
  valuesAt,
  yTicks,
} from "./frame.ts";

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

Deno.test("ticks are short", () => {
  assertEquals(
    [0, 0.5, 1500, 25_000, 2.5e6, 3e9, 1.234e-5, null].map(tickText),
    [
      ...["0", "0.5", "1500", "25k", "2.5M", "3G", "1.23e-5", ""],
    ],
  );
});

Deno.test("ticks are round and within", () => {
  assertEquals(ticksOf([0, 100]), [0, 20, 40, 60, 80, 100]);
  assertEquals(ticksOf([-0.3, 0.3]), [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]);
  assertEquals(ticksOf([1e6, 1.2e6])[0], 1e6);
});

Deno.test("ticks of logarithms are powers, where there are two", () => {
  const log = true;
  assertEquals(yTicks({ y: [0.0954, 190], log }), [0.1, 1, 10, 100]);
  assertEquals(yTicks({ y: [1e-30, 1e30], log }).length, 7);
  assertEquals(yTicks({ y: [1, 5], log }), [1, 2, 3, 4, 5]);
  assertEquals(yTicks({ y: [0, 5], log: false }), [0, 1, 2, 3, 4, 5]);
});
