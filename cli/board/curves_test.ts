import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { type CurveChoice, type NewPoints, readCurves } from "./curves.ts";
import {
  HEADER,
  makePipe,
  rowsOf,
} from "../../lab/runs/folder/testdata/folders.ts";

const root = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-board-curves-" }),
);
const path = `${root}/progress.csv`;
const log = { root, path, most: 2e9 };
const CHOICE: CurveChoice = {
  statistics: ["rollout/return_mean", "eval/return_mean"],
  x: "steps",
  points: 10_000,
  thinning: "extremes",
};

globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

const NO_TURNS = { take: () => Promise.resolve() };

/** Page that keeps what arrives. */
class Page {
  position = "";
  resets = 0;
  curves = new Map<string, [x: number, y: number][]>();

  async read(choice = CHOICE, turns = NO_TURNS): Promise<void> {
    const { position } = this;
    this.take(await readCurves(log, choice, { position, turns }));
  }

  take(points: NewPoints | undefined): void {
    if (points === undefined) return;
    if (points.isWhole) {
      this.curves.clear();
      this.resets++;
    }
    this.position = points.position;
    for (const [name, { x, y }] of Object.entries(points.curves)) {
      const curve = this.curves.get(name) ?? [];
      x.forEach((it, i) => curve.push([it, y[i]]));
      this.curves.set(name, curve);
    }
  }
}

/** Reads the whole rows of a text without the code that is tested. */
function curvesIn(text: string): Page["curves"] {
  const curves: Page["curves"] = new Map();
  const [header, ...rows] = text.split("\n").slice(0, -1);
  if (header === undefined) return curves;
  const columns = header.split(",");
  for (const row of rows) {
    const cells = row.split(",");
    for (const name of CHOICE.statistics) {
      const cell = cells[columns.indexOf(name)];
      if (cell === undefined || cell === "" || cell === "NaN") continue;
      const curve = curves.get(name) ?? [];
      curve.push([Number(cells[0]), Number(cell)]);
      curves.set(name, curve);
    }
  }
  return curves;
}

/** What may happen to a log between two looks. */
type Event =
  | { kind: "bytes"; count: number }
  | { kind: "cut"; rows: number }
  | { kind: "column"; name: string }
  | { kind: "replace" };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("bytes" as const),
      count: fc.integer({ min: 0, max: 300 }),
    }),
  },
  fc.record({
    kind: fc.constant("cut" as const),
    rows: fc.integer({ min: 0, max: 20 }),
  }),
  fc.record({
    kind: fc.constant("column" as const),
    name: fc.constantFrom("a", "train/loss"),
  }),
  fc.record({ kind: fc.constant("replace" as const) }),
);

/** A log that grows by pieces of rows, and is cut back as by a resumed run. */
class GrowingLog {
  text = "";
  /** Text that is still to be written. */
  #rest = `${HEADER}\n`;
  #rows = 0;
  /** Run after a cut has other values. */
  #life = 0;

  happen(it: Event): void {
    if (it.kind === "bytes") this.#grow(it.count);
    else if (it.kind === "replace") this.#begin();
    else if (this.text.includes("\n")) {
      const lines = this.text.split("\n").slice(0, -1);
      this.#rest = "";
      this.#life++;
      if (it.kind === "cut") lines.splice(1 + it.rows);
      else {
        for (let i = 0; i < lines.length; i++) {
          lines[i] += i === 0 ? `,${it.name}` : ",";
        }
      }
      this.text = lines.map((line) => `${line}\n`).join("");
    }
    Deno.writeTextFileSync(path, this.text);
  }

  #begin(): void {
    this.#life++;
    this.#rest = `${HEADER}\n`;
    this.text = "";
  }

  #grow(count: number): void {
    while (this.#rest.length < count) {
      const i = this.#rows++, step = 10 * i;
      const width = this.text.split("\n", 1)[0].split(",").length;
      const more = ",".repeat(Math.max(0, width - 6));
      const value = i % 4 === 0 ? "NaN" : `${i}.${this.#life}`;
      this.#rest += i % 3 === 0
        ? `${step},,,,,${value}${more}\n`
        : `${step},${i},${i / 4},,${value},${more}\n`;
    }
    this.text += this.#rest.slice(0, count);
    this.#rest = this.#rest.slice(count);
  }
}

Deno.test("what arrives equals the rows in the file, however it grows", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
      const file = new GrowingLog(), page = new Page();
      Deno.writeTextFileSync(path, "");
      for (const it of events) {
        file.happen(it);
        await page.read();
        assertEquals(page.curves, curvesIn(file.text));
      }
    }),
    { numRuns: 150 },
  );
});

Deno.test("a log that changes while it is read gives rows of what it is alone", async () => {
  const long = (life: number, rows: number) =>
    `${HEADER}\n` + Array.from(
      { length: rows },
      (_, i) => `${i},${i},${i}.${life},,${i}.${life},\n`,
    ).join("");
  for (const rows of [9_000, 40_000]) {
    Deno.writeTextFileSync(path, long(0, 30_000));
    let turn = 0;
    const page = new Page();
    const many = { ...CHOICE, points: 100_000 };
    await page.read(many, {
      take() {
        // Other rows come in its place, after the first piece was read.
        if (turn++ === 0) Deno.writeTextFileSync(path, long(1, rows));
        return Promise.resolve();
      },
    });
    await page.read(many);
    assertEquals(page.curves, curvesIn(long(1, rows)));
  }
});

Deno.test("nothing new is nothing, and half a row is none", async () => {
  const page = new Page();
  Deno.writeTextFileSync(path, `${HEADER}\n${rowsOf(0, 30)}`);
  await page.read();
  assertEquals([page.resets, page.curves.get("eval/return_mean")?.length], [
    1,
    3,
  ]);
  const options = { position: page.position, turns: NO_TURNS };
  assertEquals(await readCurves(log, CHOICE, options), undefined);
  Deno.writeTextFileSync(path, "310,31,4,80,3", { append: true });
  assertEquals(await readCurves(log, CHOICE, options), undefined);
  Deno.writeTextFileSync(path, "1,\n", { append: true });
  assertEquals(await readCurves(log, CHOICE, options), {
    isWhole: false,
    position: (await readCurves(log, CHOICE, options))!.position,
    curves: { "rollout/return_mean": { x: [310], y: [31] } },
  });
});

Deno.test("an evaluation has the time and the episodes of the row before", async () => {
  Deno.writeTextFileSync(path, `${HEADER}\n${rowsOf(0, 20)}`);
  for (const [x, wanted] of [["time", 19 / 8], ["episodes", 18]] as const) {
    const choice = { ...CHOICE, x };
    const page = new Page();
    await page.read(choice);
    assertEquals(page.curves.get("eval/return_mean")!.at(-1), [wanted, 9.5]);
    // Also where that row was sent before.
    Deno.writeTextFileSync(path, "210,,,,,7\n", { append: true });
    await page.read(choice);
    assertEquals(page.resets, 1);
    assertEquals(page.curves.get("eval/return_mean")!.at(-1), [wanted, 7]);
    Deno.writeTextFileSync(path, `${HEADER}\n${rowsOf(0, 20)}`);
  }
});

Deno.test("quotes, other columns and words in place of numbers", async () => {
  Deno.writeTextFileSync(
    path,
    'eval/return_mean,"a ""b"", c",time/steps,__proto__\n' +
      '"1","x,y",10,3\n,2,20,4\nInfinity,,30,\nword,,40,\n"",,50,\n 5,,60,6\n',
  );
  const page = new Page();
  await page.read({
    ...CHOICE,
    statistics: ["eval/return_mean", 'a "b", c', "__proto__", "none"],
  });
  assertEquals([...page.curves], [
    ["eval/return_mean", [[10, 1], [60, 5]]],
    ['a "b", c', [[20, 2]]],
    ["__proto__", [[10, 3], [20, 4], [60, 6]]],
  ]);
});

Deno.test("positions that somebody made up lead to a reset, and files that are none to errors", async () => {
  Deno.writeTextFileSync(path, `${HEADER}\n${rowsOf(0, 20)}`);
  for (
    const position of ["", "x", "5-0123456789ab", "zzzzzzzzz-0123456789ab"]
  ) {
    const points = await readCurves(log, CHOICE, { position, turns: NO_TURNS });
    assertEquals(points?.isWhole, true);
  }
  const begin = { position: "", turns: NO_TURNS };
  for (const text of ["", "time/steps"]) {
    Deno.writeTextFileSync(path, text);
    assertEquals(await readCurves(log, CHOICE, begin), undefined);
  }
  const fails = (why: string) =>
    assertRejects(() => readCurves(log, CHOICE, begin), Error, why);
  Deno.writeTextFileSync(path, "a,b\n1,2\n");
  await fails("it has no column time/steps");
  Deno.writeTextFileSync(path, "a".repeat(70_000));
  await fails("its first line does not end");
  Deno.writeTextFileSync(path, `${HEADER}\n${"1".repeat(2_000_000)}`);
  await fails("a line of more than a million letters");
  Deno.removeSync(path);
  await fails("No such file");
  makePipe(path);
  await fails("a pipe");
  Deno.removeSync(path);
});

Deno.test("of a long log as many points as are wanted, with its spikes", async () => {
  const rows = Array.from(
    { length: 60_000 },
    (_, i) => `${i},,,,${i === 31_000 ? 1e6 : i % 5},\n`,
  );
  Deno.writeTextFileSync(path, `${HEADER}\n${rows.join("")}`);
  const page = new Page();
  await page.read({ ...CHOICE, points: 1000 });
  const points = page.curves.get("rollout/return_mean")!;
  assert(points.length > 400 && points.length <= 1001, `${points.length}`);
  assertEquals(points.filter(([, y]) => y === 1e6), [[31_000, 1e6]]);
});
