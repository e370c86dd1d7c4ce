import { assert, assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../terminal/errors.ts";
import { type SearchEvent, SearchRecord } from "./record.ts";

const EVENTS: SearchEvent[] = [
  { op: "begin", plan: { name: "é" }, sampler: "random", scores: {} },
  { op: "ask", trial: 0, params: { learningRate: 0.001, network: "mlp" } },
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
        params: { learningRate: 0.001, network: "mlp" },
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

Deno.test("a record whose whole lines were changed is refused in one line", () =>
  inFolder((path) => {
    write(path);
    const whole = Deno.readTextFileSync(path), lines = whole.split("\n");
    const changed = [
      whole.replace("0.375", "0.376"),
      whole.replace("-1.5", "-1.50"),
      [...lines.slice(0, 2), ...lines.slice(3)].join("\n"),
      [...lines.slice(0, 3), ...lines.slice(2)].join("\n"),
      `\n${whole}`,
      whole.replace('"check"', '"chekc"'),
      `${whole}{}\n`,
      `${whole}null\n`,
    ];
    for (const text of changed) {
      Deno.writeTextFileSync(path, text);
      const error = assertThrows(() => new SearchRecord(path), UsageError);
      assert(/^Cannot use .*: line \d is not as/.test(error.message));
      assertEquals(Deno.readTextFileSync(path), text);
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
