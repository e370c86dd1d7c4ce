import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { readCurves, readLatest } from "./curves.ts";
import { HEADER, makePipe, rowsOf } from "./testdata/folders.ts";

const dir = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-curves-" }),
);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
const path = `${dir}/progress.csv`;
const write = (text: string, append = false) =>
  Deno.writeTextFileSync(path, text, { append });
const KEYS = ["rollout/return_mean", "eval/return_mean"];

Deno.test("rows are read from one on, a torn one when it is whole", () => {
  assertEquals(readCurves(dir), { from: 0, next: 0, steps: [], values: {} });
  write("time/steps,rollo");
  assertEquals(readCurves(dir, { since: 3 }).next, 0);
  write(`${HEADER}\n${rowsOf(0, 20)}`);
  const all = readCurves(dir, { keys: KEYS });
  assertEquals([all.from, all.next, all.steps.length], [0, 20, 20]);
  assertEquals(Object.keys(all.values), KEYS);
  assertEquals(all.values[KEYS[0]].slice(8, 11), [8, NaN, 10]);
  assertEquals(all.values[KEYS[1]].slice(8, 11), [NaN, 4.5, NaN]);
  write("210,20,2.5,80,2", true);
  assertEquals(readCurves(dir, { since: 20 }).steps, []);
  write("0,\n", true);
  const next = readCurves(dir, { since: 20, keys: KEYS });
  assertEquals([next.from, next.next, next.steps], [20, 21, [210]]);
  assertEquals(next.values[KEYS[0]], [20]);
  assertEquals(readCurves(dir, { since: 21 }).steps, []);
});

Deno.test("a log that was cut back is read as a whole", () => {
  write(`${HEADER}\n${rowsOf(0, 5)}`);
  const { from, next, steps } = readCurves(dir, { since: 21 });
  assertEquals([from, next, steps.at(-1)], [0, 5, 50]);
  write("");
  assertEquals(readCurves(dir, { since: 5 }).next, 0);
});

Deno.test("rows beyond the most are means of their neighbours", () => {
  write(`${HEADER}\n${rowsOf(0, 10_000)}`);
  const { next, steps, values } = readCurves(dir, { maxRows: 100, keys: KEYS });
  assertEquals([next, steps.length], [10_000, 79]);
  assertEquals(steps[0], 645);
  // Rows 0 to 127 without each tenth one.
  const mean = values[KEYS[0]][0];
  assert(Math.abs(mean - 63.4) < 0.2, `${mean}`);
  const all = values[KEYS[1]];
  assert(all.every((it, i) => i === 0 || it > all[i - 1]));
  write(rowsOf(10_000, 10_003), true);
  assertEquals(readCurves(dir, { since: next, maxRows: 100 }).steps, [
    ...[100_010, 100_020, 100_030],
  ]);
});

Deno.test("any doubles are read as they are, and averaged to numbers", () => {
  const doubles = fc.array(fc.double(), { minLength: 1, maxLength: 30 });
  fc.assert(fc.property(doubles, (all) => {
    write(`time/steps,a\n${all.map((it, i) => `${i},${it}\n`).join("")}`);
    const { values } = readCurves(dir);
    // The sign of a zero is nothing that texts have.
    const kept = all.map((it) => Number.isFinite(it) ? it + 0 : NaN);
    assertEquals(values.a.map((it) => it + 0), kept);
    const few = readCurves(dir, { maxRows: 4 });
    assert(few.steps.length <= 4);
    for (const it of few.values.a) assert(Number.isNaN(it) || isFinite(it));
  }));
});

Deno.test("odd cells are no numbers, and hang nobody", () => {
  write(
    `time/steps,a,a,"b,c",__proto__\n1e400,1\nNaN,NaN,-Infinity\n,,,,,,,,\n` +
      `\n-7.50,0x10,2,1e308,5\n8,--,,-1e-5,${"9".repeat(30)}\n9\n`,
  );
  const { next, steps, values } = readCurves(dir);
  assertEquals([next, steps], [7, [-7.5, 8, 9]]);
  assertEquals(Object.entries(values), [
    ["a", [16, NaN, NaN]],
    ["b,c", [1e308, -1e-5, NaN]],
    ["__proto__", [5, 1e30, NaN]],
  ]);
  const latest = readLatest(dir);
  assertEquals([latest["time/steps"], latest["b,c"]], [9, -1e-5]);
});

Deno.test("the last values are those of the end of the log", () => {
  write(`${HEADER}\n${rowsOf(0, 5000)}123`);
  assertEquals(Object.keys(readLatest(dir)), HEADER.split(","));
  const { [KEYS[0]]: mean, "time/steps": step } = readLatest(dir);
  assertEquals([step, mean], [50_000, 4998]);
  Deno.removeSync(path);
  assertEquals(Object.keys(readLatest(dir)), []);
});

Deno.test("what is no log is refused in a line", () => {
  const fails = (why: string) => {
    for (const read of [readCurves, readLatest]) {
      assertThrows(() => read(dir), SyntaxError, why);
    }
  };
  write("a,b\n1,2\n");
  fails("it has no column time/steps");
  write("a".repeat(1 << 17));
  fails("its first line does not end");
  write(`${HEADER}\n${"9".repeat(3_000_000)}`);
  assertThrows(() => readCurves(dir), SyntaxError, "more than a million");
  Deno.removeSync(path);
  makePipe(path);
  fails("it is a pipe");
  Deno.removeSync(path);
  Deno.symlinkSync("/etc/passwd", path);
  fails("it leads out of its folder");
  Deno.removeSync(path);
});
