import {
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertThrows,
} from "@std/assert";
import { UsageError } from "@bellman/runs/program";
import { type SearchEvent, SearchRecord } from "./record.ts";
import type { Space } from "./space.ts";

const SPACE: Space = {
  learningRate: { kind: "float", low: 1e-7, high: 0.1, log: true },
  network: { kind: "choice", choices: ["mlp", null] },
};
const EVENTS: SearchEvent[] = [
  { op: "begin", plan: { name: "é", space: SPACE }, sampler: "é", scores: {} },
  { op: "ask", trial: 0, params: { learningRate: 0.5 } },
  { op: "report", trial: 0, run: 0, step: 80, value: -1.5 },
  { op: "ask", trial: 1, params: { learningRate: 1e-7, network: null } },
  { op: "report", trial: 0, run: 1, step: 80, value: 2.25 },
  { op: "tell", trial: 0, state: "complete", value: 0.375 },
  { op: "tell", trial: 1, state: "failed", message: "no luck" },
];

async function inFolder(act: (path: string) => void): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    act(`${dir}/trials.jsonl`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Opens a record, and returns its events. */
function eventsIn(path: string): readonly SearchEvent[] {
  const record = new SearchRecord(path);
  record.close();
  return record.events;
}

function write(path: string, events: readonly SearchEvent[] = EVENTS): void {
  const record = new SearchRecord(path);
  events.forEach((it) => record.append(it));
  record.close();
}

Deno.test("a record returns its events and trials", () =>
  inFolder((path) => {
    write(path);
    const record = new SearchRecord(path);
    assertEquals(record.events, EVENTS);
    assertEquals(record.trials, [
      {
        number: 0,
        params: { learningRate: 0.5 },
        state: "complete",
        value: 0.375,
        message: undefined,
        evaluations: [[{ step: 80, value: -1.5 }], [{ step: 80, value: 2.25 }]],
      },
      {
        number: 1,
        params: { learningRate: 1e-7, network: null },
        state: "failed",
        value: undefined,
        message: "no luck",
        evaluations: [],
      },
    ]);
    record.close();
  }));

Deno.test("a record that is cut anywhere keeps its whole lines, and goes on", () =>
  inFolder((path) => {
    write(path);
    const whole = Deno.readFileSync(path);
    for (let length = 0; length <= whole.length; length += 7) {
      const cut = whole.subarray(0, length);
      Deno.writeFileSync(path, cut);
      const lines = new TextDecoder().decode(cut).split("\n").length - 1;
      assertEquals(eventsIn(path), EVENTS.slice(0, lines));
      write(path, EVENTS.slice(lines));
      assertEquals(Deno.readFileSync(path), whole);
    }
  }));

/** Damages a record, and checks that it goes on from the lines before. */
function checkDamaged(path: string, text: string, good: number): void {
  Deno.writeTextFileSync(path, text);
  const read = new SearchRecord(path, { isRead: true });
  read.close();
  const record = new SearchRecord(path);
  record.close();
  const told = `line ${good + 1} is not as the search wrote it`;
  assertEquals([read.damage, record.damage], [told, told], text);
  assertEquals([read.events, record.events], [
    EVENTS.slice(0, good),
    EVENTS.slice(0, good),
  ]);
  assertEquals(Deno.readTextFileSync(`${path}.damaged`), text);
  write(path, EVENTS.slice(good));
  assertEquals(eventsIn(path), EVENTS);
}

Deno.test("a record goes on from the last line that can follow the others", () =>
  inFolder((path) => {
    write(path);
    const whole = Deno.readTextFileSync(path), lines = whole.split("\n");
    const changed: [string, number][] = [
      [whole.replace("0.375", "0.3.75"), 5],
      [whole.replace("0.375", "1e999"), 5],
      [whole.replace('1e-7,"network"', '1e-8,"network"'), 3],
      [whole.replace('"network":null', '"network":"cnn"'), 3],
      [whole.replace(',"network":null', ""), 3],
      [whole.replace('"network":null', '"network":null,"seed":3'), 3],
      [whole.replace('"learningRate":0.5', '"learninGRate":0.5'), 1],
      [whole.replace('"report"', '"repost"'), 2],
      [whole.replace('"complete"', '"compleue"'), 5],
      [whole.replace('"run":1', '"run":3'), 4],
      [[lines[0], ...lines.slice(2)].join("\n"), 1],
      [[...lines.slice(0, 6), ...lines.slice(5)].join("\n"), 6],
      [[...lines.slice(0, 3), ...lines.slice(2)].join("\n"), 3],
      [`${whole}{}\n`, 7],
      [`${whole}null\n`, 7],
      [`${whole}\n`, 7],
    ];
    for (const [text, good] of changed) checkDamaged(path, text, good);
  }));

Deno.test("a record is read whichever bit of it is flipped, or refused for its first line", () =>
  inFolder((path) => {
    write(path);
    const whole = Deno.readFileSync(path), first = whole.indexOf(0x0a);
    for (let bit = 0; bit < 8 * (whole.length - 1); bit += 23) {
      const at = bit >> 3, bytes = whole.slice();
      bytes[at] ^= 1 << (bit & 7);
      Deno.writeFileSync(path, bytes);
      if (at > first) {
        const events = eventsIn(path);
        const { length } = events;
        const lineOf = whole.subarray(0, at).filter((it) => it === 0x0a).length;
        // Of a number that is still one nobody can tell.
        assertEquals(length === 7 || length === lineOf, true, `bit ${bit}`);
        assertEquals(events.slice(0, lineOf), EVENTS.slice(0, lineOf));
        continue;
      }
      try {
        eventsIn(path);
      } catch (error) {
        assertInstanceOf(error, UsageError);
        assertEquals(Deno.readFileSync(path), bytes);
      }
    }
  }));

Deno.test("a record whose lines have checksums is read, and goes on without", () =>
  inFolder((path) => {
    const lines = EVENTS.slice(0, 5).map((it, i) =>
      `${JSON.stringify({ ...it, check: `00112233445566a${i}` })}\n`
    ).join("");
    Deno.writeTextFileSync(path, lines);
    write(path, EVENTS.slice(5));
    assertEquals(eventsIn(path), EVENTS);
    const rest = EVENTS.slice(5).map((it) => `${JSON.stringify(it)}\n`);
    assertEquals(Deno.readTextFileSync(path), lines + rest.join(""));
  }));

/** Events that cannot follow the first two. */
const IMPOSSIBLE: object[] = [
  ...["text", null, [1], { valueOf: 1 }].flatMap((value) => [
    { op: "report", trial: 0, run: 0, step: 80, value },
    { op: "report", trial: 0, run: 0, step: value, value: 1 },
    { op: "report", trial: 0, run: value, step: 80, value: 1 },
    { op: "tell", trial: 0, state: "complete", value },
    { op: "tell", trial: 0, state: value },
    { op: "tell", trial: value, state: "pruned" },
    { op: "ask", trial: 1, params: value },
    { op: value, trial: 0 },
  ]),
  { op: "report", trial: 0, run: -1, step: 80, value: 1 },
  { op: "tell", trial: 0, state: "running" },
  { op: "tell", trial: 0, state: "toString" },
  { op: "tell", trial: 0, state: "failed", message: 3 },
  { op: "ask", trial: 7, params: {} },
  { op: "begin", plan: {}, sampler: "random", scores: {} },
];

Deno.test("events that somebody else has made up are damage", () =>
  inFolder((path) => {
    for (const event of IMPOSSIBLE) {
      const events = [...EVENTS.slice(0, 2), event];
      const text = events.map((it) => `${JSON.stringify(it)}\n`).join("");
      checkDamaged(path, text, 2);
    }
  }));

Deno.test("a file that is no record, or another one's, is left as it is", () =>
  inFolder((path) => {
    write(path);
    const whole = Deno.readTextFileSync(path);
    for (
      const text of [
        "my notes\n",
        "{}\n",
        `\n${whole}`,
        "\0\0\n",
        '{"op":"ask"}\n',
      ]
    ) {
      Deno.writeTextFileSync(path, text);
      const error = assertThrows(() => new SearchRecord(path), UsageError);
      assertMatch(error.message, /^Cannot use .*: line 1 is not as/);
      assertEquals(Deno.readTextFileSync(path), text);
    }
    for (const text of [whole, whole.replace("-1.5", "-2"), `${whole}{`]) {
      Deno.writeTextFileSync(path, text);
      const other = `${path}.other`;
      Deno.linkSync(path, other);
      const error = assertThrows(() => new SearchRecord(path), UsageError);
      assertMatch(error.message, /^Cannot use .*: it has a second name/);
      assertEquals(Deno.readTextFileSync(path), text);
      Deno.removeSync(other);
    }
  }));

Deno.test("a record that is only read is left as it is", () =>
  inFolder((path) => {
    write(path);
    Deno.writeTextFileSync(path, '{"op":"ask', { append: true });
    const before = Deno.readTextFileSync(path);
    const record = new SearchRecord(path, { isRead: true });
    record.close();
    assertEquals(record.events, EVENTS);
    assertEquals(Deno.readTextFileSync(path), before);
  }));
