import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeView, encodeView, HOME, type View } from "./address.ts";

const names = fc.array(fc.string({ unit: "binary", minLength: 1 }), {
  minLength: 1,
});
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const id = fc.string({ unit: "grapheme", minLength: 1 });
const text = fc.string({ unit: "grapheme" });

const views: fc.Arbitrary<View> = fc.record({
  page: fc.constantFrom("run" as const, "group" as const),
  id,
  other: text,
  filter: text,
  sort: text,
  columns: names,
  hidden: names,
  charts: fc.oneof(fc.constant(null), fc.array(fc.string({ minLength: 1 }))),
  x: fc.constantFrom("steps" as const, "time" as const, "episodes" as const),
  curves: fc.constantFrom("mean" as const, "iqm" as const, "runs" as const),
  by: names,
  smooth: fc.constantFrom(0, 0.01, 0.25, 1),
  log: fc.boolean(),
  zoom: fc.oneof(
    fc.constant(null),
    fc.record({ environment: text, from: finite, to: finite })
      .filter(({ from, to }) => from < to),
  ),
});

Deno.test("an address holds the whole view", () => {
  fc.assert(fc.property(views, (view) => {
    const address = encodeView(view);
    // As the browser keeps it.
    const { hash } = new URL(address, "http://127.0.0.1/");
    assertEquals(decodeView(hash), view);
    assertEquals(encodeView(decodeView(hash)), address);
  }));
});

Deno.test("what is as usual is left out of an address", () => {
  assertEquals(encodeView({ ...HOME }), "#/runs");
  assertEquals(decodeView("#/runs"), HOME);
  assertEquals(decodeView(""), HOME);
  assertEquals(
    encodeView({
      ...HOME,
      filter: "gamma=0.9",
      zoom: { environment: "A-v1", from: 0, to: 1e5 },
    }),
    "#/runs?filter=gamma%3D0.9&zoom=0%7E100000%7EA-v1",
  );
});

const BROKEN = [
  "#/nothing/1",
  "#/run/",
  "#/run/%",
  "#/runs?zoom=5~1&smooth=9&x=hours&curves=all&log=yes",
  "#/runs?zoom=1~Infinity",
  "#/runs?zoom=1~x~3",
];

for (const address of BROKEN) {
  Deno.test(`the address ${address} shows what is usual`, () => {
    assertEquals(decodeView(address), HOME);
  });
}

Deno.test("no address breaks the page", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (it) => {
    const view = decodeView(it);
    assertEquals(decodeView(encodeView(view)), view);
  }));
});

Deno.test("one view is no other one: the usual one stays", () => {
  decodeView("").columns.push("seed");
  assertEquals(decodeView("").columns, []);
});
