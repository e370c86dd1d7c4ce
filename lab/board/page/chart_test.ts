import { ticksOver } from "@bellman/statistics";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { csvOf, drawnOf, tickTexts } from "./chart.tsx";

const line = (x: number[], y: number[]) => ({ name: "", color: 0, x, y });
const LINEAR = { log: false, zoom: null };

Deno.test("all curves are read at the same places, and nowhere else", () => {
  const curves = [line([0, 10, 20], [1, 2, 3]), line([10, 30], [5, 7])];
  const { data, x, y } = drawnOf(curves, LINEAR);
  assertEquals(data[0], [0, 10, 20, 30]);
  assertEquals([data[1], data[4]], [[1, 2, 3, null], [null, 5, 6, 7]]);
  assertEquals(x, [0, 30]);
  assert(y[0] < 1 && y[1] > 7 && y[1] < 8);
});

Deno.test("heights are those of what is seen", () => {
  const curve = line([0, 1, 2, 3, 4], [1000, 1, 2, 1, 1000]);
  const { x, y } = drawnOf([curve], { log: false, zoom: [1.5, 2.5] });
  assertEquals(x, [1.5, 2.5]);
  assert(y[1] < 3, String(y));
});

Deno.test("logarithms leave out what has none; nothing at all has a range", () => {
  const curve = line([0, 1, 2], [-1, 0.1, 10]);
  const { y, data } = drawnOf([curve], { log: true, zoom: null });
  assertEquals([y, data[1]], [[0.1, 10], [null, 0.1, 10]]);
  assertEquals(drawnOf([], LINEAR).x, [0, 1]);
  const flat = drawnOf([line([5], [7])], LINEAR);
  assert(flat.x[0] < flat.x[1] && flat.y[0] < 7 && flat.y[1] > 7);
});

Deno.test("a chart of any doubles has ranges and few ticks", () => {
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(-20.000000000000004, -20.000000000000007, 5e-324, 0),
  );
  const some = fc.array(numbers, { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(some, some, fc.boolean(), (heights, places, log) => {
    const rising = [...new Set(places.map((it) => it + 0))]
      .sort((a, b) => a - b);
    const y = rising.map((_, i) => heights[i % heights.length]);
    const drawn = drawnOf([{ ...line(rising, y), low: y, high: y }], {
      log,
      zoom: null,
    });
    for (const [from, to] of [drawn.x, drawn.y]) {
      assert(from < to && to - from < Infinity, `${from} ${to}`);
      assert(ticksOver(from, to, 6).ticks.length < 10);
    }
    const all = drawn.data.flatMap((it) => [...it]);
    assert(all.every((it) => it === null || Number.isFinite(it)));
  }));
});

Deno.test("ticks are short, and not two alike", () => {
  assertEquals(
    tickTexts([0, 0.5, 1500, 25_000, 2.5e6, 3e9, 1.234e-5, 1e300, null]),
    ["0", "0.5", "1500", "25k", "2.5M", "3G", "1.23e-5", "1e300", ""],
  );
  assertEquals(tickTexts([1e6, 1e6 + 1]), ["1M", "1.000001M"]);
});

Deno.test("CSV has a row for each point, and no formulas", () => {
  const curves = [
    { ...line([0, 1], [5, 6]), name: 'a "b", c', low: [4, 5], high: [6, 7] },
    { ...line([1], [-2]), name: "=HYPERLINK()" },
  ];
  assertEquals(csvOf({ curves }, "Steps").split("\r\n"), [
    "Curve,Steps,Value,Low,High",
    '"a ""b"", c",0,5,4,6',
    '"a ""b"", c",1,6,5,7',
    "'=HYPERLINK(),1,-2,,",
    "",
  ]);
});
