import {
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
} from "@std/assert";
import fc from "fast-check";
import type { RunSummary } from "../../messages.ts";
import { Index, Points } from "./model.ts";

const run = (id: string, step = 0) => ({ id, step }) as RunSummary;
const none = { runs: [], experiments: [], searches: [], gone: [], notices: [] };

Deno.test("the index takes changes, and a whole one in place of all", () => {
  const index = new Index();
  const first = [run("a"), run("b")];
  index.apply({ ...none, version: "1", isWhole: true, runs: first });
  index.apply({
    ...none,
    version: "2",
    isWhole: false,
    runs: [run("b", 5), run("c")],
    gone: ["a"],
  });
  assertEquals([...index.runs.values()], [run("b", 5), run("c")]);
  const copy = new Index();
  copy.apply(index.whole());
  assertEquals(copy, index);
  index.apply({ ...none, version: "3", isWhole: true });
  assertEquals([index.runs.size, index.version], [0, "3"]);
});

const points = (isWhole: boolean, ...numbers: number[]) => ({
  run: "a",
  isWhole,
  position: String(numbers.at(-1)),
  curves: { y: { x: numbers, y: numbers.map((it) => -it) } },
});

Deno.test("points are those of the log, however they come", () => {
  const rows = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 20 });
  fc.assert(fc.property(rows, (counts) => {
    const kept = new Points(), expected: number[] = [];
    let next = 0, isFirst = true;
    for (const count of counts) {
      // A run that was resumed begins anew.
      const isWhole = isFirst || count === 0;
      if (isWhole) expected.length = 0;
      const added = Array.from({ length: count + 1 }, () => next++);
      expected.push(...added);
      kept.apply("k", points(isWhole, ...added));
      isFirst = false;
    }
    assertEquals(kept.of("k", "a")?.curves.y.x ?? [], expected);
    assertEquals(
      kept.of("k", "a")?.position ?? "undefined",
      String(expected.at(-1)),
    );
  }));
});

Deno.test("a line with new points is another one, the others stay", () => {
  const kept = new Points();
  const line = { x: [1], y: [1] };
  kept.apply("k", { ...points(true, 1), curves: { y: line, z: line } });
  const before = kept.of("k", "a")!.curves;
  kept.apply("k", points(false, 2));
  const after = kept.of("k", "a")!.curves;
  assertNotStrictEquals(after.y, before.y);
  assertStrictEquals(after.z, before.z);
  assertEquals(before.y.x, [1]);
  assertEquals(after.y.x, [1, 2]);
});

Deno.test("points that nobody wants, and those of runs that are gone, are dropped", () => {
  const kept = new Points();
  for (const key of ["k", "l"]) kept.apply(key, points(true, 1));
  kept.keep(new Set(["k"]));
  assertEquals(kept.of("l", "a"), undefined);
  assertEquals(kept.of("k", "a")?.position, "1");
  kept.drop(["a"]);
  assertEquals(kept.of("k", "a"), undefined);
});
