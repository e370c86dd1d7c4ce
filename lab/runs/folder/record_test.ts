import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { readRecord, type RunRecord, toJson, writeRecord } from "./record.ts";
import { RunFolder } from "./run_folder.ts";

/** Returns the record of a run that has begun. */
function recordOf(changes: Partial<RunRecord> = {}): RunRecord {
  const now = "2026-01-02T03:04:05.678Z";
  return {
    ...{ state: "running", since: now, begun: now, resumes: 0 },
    ...{ step: 0, updates: 0, episodes: 0, seconds: 0 },
    ...{ engine: "eager", versions: { bellman: "0.1.0" } },
    settings: { algorithm: "a2c", env: "CartPole-v1", seed: 1 },
    evaluations: { during: [] },
    checkpoints: [],
    ...changes,
  };
}

const folder = new RunFolder(await Deno.makeTempDir());

Deno.test("a record is read as it was written, with any double", () => {
  const values = fc.dictionary(fc.string(), fc.double());
  fc.assert(fc.property(values, fc.double(), (settings, meanReturn) => {
    const last = { step: 1, seed: 2, episodes: 3, meanReturn, stdReturn: NaN };
    const record = recordOf({ settings, evaluations: { during: [], last } });
    writeRecord(folder, record);
    assertEquals(toJson(readRecord(folder)), toJson(record));
  }));
});

Deno.test("a record is plain JSON for other programs", () => {
  writeRecord(folder, recordOf({ step: 80, reason: undefined }));
  const value = JSON.parse(Deno.readTextFileSync(folder.recordPath));
  assertEquals([value.format, value.step, value.reason], [1, 80, undefined]);
});

Deno.test("a record that is flipped or cut anywhere is refused in one line", () => {
  writeRecord(folder, recordOf());
  const bytes = Deno.readFileSync(folder.recordPath);
  const text = new TextDecoder().decode(bytes);
  const whole = toJson(readRecord(folder));
  for (let at = 0; at < bytes.length; at++) {
    const damaged = bytes.slice();
    damaged[at] ^= 1 << at % 7;
    for (const content of [damaged, bytes.slice(0, at)]) {
      Deno.writeFileSync(folder.recordPath, content);
      try {
        // White space and the order of digits may change nothing.
        assertEquals(toJson(readRecord(folder)), whole);
      } catch (error) {
        assert(error instanceof SyntaxError, `${at}: ${error}`);
        assertEquals(error.message.split("\n").length, 1);
      }
    }
  }
  Deno.writeTextFileSync(
    folder.recordPath,
    text.replace('"seed": 1', '"seed": 2'),
  );
  assertThrows(
    () => readRecord(folder),
    SyntaxError,
    "it is damaged, or was edited",
  );
});

Deno.test("a record with members of other types is refused, whoever made its checksum", () => {
  const wrong: Record<string, unknown>[] = [
    { state: "over" },
    { step: "1" },
    { reason: { text: "" } },
    { resumes: [1] },
    { settings: null },
    { versions: [] },
    { evaluations: null },
    { evaluations: {} },
    { evaluations: { during: [null] } },
    { evaluations: { during: [], last: { meanReturn: "1" } } },
    { evaluations: { during: [], best: { meanReturn: 1, step: "1" } } },
    { checkpoints: [{}] },
  ];
  for (const changes of wrong) {
    writeRecord(folder, { ...recordOf(), ...changes } as never);
    assertThrows(() => readRecord(folder), SyntaxError, "or was edited");
  }
});

Deno.test("a record of a newer version says so", () => {
  Deno.writeTextFileSync(folder.recordPath, '{ "format": 2 }');
  assertThrows(
    () => readRecord(folder),
    RangeError,
    `Cannot read the record ${folder.recordPath}: it is of version 2, expected up to 1`,
  );
});
