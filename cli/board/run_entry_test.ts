import { assert, assertEquals, assertMatch } from "@std/assert";
import { lockRun } from "@bellman/runs";
import { detailsOf } from "./run_details.ts";
import { RunEntry } from "./run_entry.ts";
import {
  HEADER,
  makeRun,
  rowsOf,
} from "../../lab/runs/folder/testdata/folders.ts";

const root = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-board-run-" }),
);

globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

const placeOf = (name: string) => ({ root, realRoot: root, name });

async function look(name: string): Promise<RunEntry> {
  const entry = new RunEntry(placeOf(name), {});
  assert(await entry.look());
  return entry;
}

Deno.test("states are those of the files, the lock first", async () => {
  const log = `${HEADER}\n${rowsOf(0, 30)}`;
  const whole = `${HEADER}\n${rowsOf(0, 100)}`;
  const elsewhere = '{"pid":1,"host":"elsewhere"}\n';
  const evaluations = JSON.stringify({
    last: { step: 1, meanReturn: 2, stdReturn: 0 },
    best: { step: 1, meanReturn: 3, stdReturn: 0 },
  });
  const cases: [Parameters<typeof makeRun>[1], string, string?][] = [
    [{ log, stopped: "completed" }, "ended"],
    [
      { log, stopped: "mean return 475.1 reached 475 &amp; more" },
      "stopped",
      "mean return 475.1 reached 475 & more",
    ],
    [{ log, stopped: "interrupted" }, "interrupted"],
    [{ log: whole }, "interrupted", "before its last evaluation"],
    [{ log, files: { "run.lock": "{}" } }, "killed"],
    [{ log, files: { "run.lock": elsewhere } }, "unknown"],
    [{ log }, "failed", "it ended without a report"],
    [{ files: { "failure.txt": "No memory\n" } }, "failed", "No memory"],
    [{ log, files: { "evaluations.json": evaluations } }, "ended"],
    // Beside a record, nothing else counts.
    [{ record: { state: "ended", reason: "completed" } }, "ended"],
    [{ record: { state: "ended" }, stopped: "interrupted" }, "ended"],
    [{ record: { state: "ended", reason: "enough" } }, "stopped", "enough"],
    [{ record: { state: "stopped", reason: "interrupted" } }, "interrupted"],
    [
      { log: whole, record: { state: "failed", reason: "no\nluck" } },
      "failed",
      "no luck",
    ],
    [{ log: whole, record: {}, stopped: "completed" }, "killed"],
    [
      {
        record: {},
        files: { "failure.txt": "No\n", "evaluations.json": evaluations },
      },
      "killed",
    ],
    [{ record: {}, files: { "run.lock": elsewhere } }, "unknown"],
    [
      {
        log,
        stopped: "completed",
        files: { "run.json": '{"state":"failed"}' },
      },
      "ended",
    ],
  ];
  for (const [i, [parts, state, reason]] of cases.entries()) {
    makeRun(`${root}/state-${i}`, parts);
    const { summary } = await look(`state-${i}`);
    assertEquals([summary.state, summary.reason], [state, reason], `case ${i}`);
    const lock = lockRun(`${root}/state-${i}`);
    assertEquals((await look(`state-${i}`)).summary.state, "running");
    lock.release();
  }
});

Deno.test("evaluations, failure and resumes are those of the record, if there is one", async () => {
  const one = { seed: 0, episodes: 2, stdReturn: 0 };
  const last = { ...one, step: 30, meanReturn: 5 };
  const best = { ...one, step: 20, meanReturn: 7 };
  const files = {
    "failure.txt": "No memory\n",
    "resumes.txt": "9\n",
    "evaluations.json": JSON.stringify({ last: best, best: last }),
  };
  const evaluations = { during: [], last, best };
  const rest = { step: 30, seconds: 4, commit: "abc", resumes: 2 };
  makeRun(`${root}/record-ended`, {
    record: { state: "ended", evaluations, ...rest },
    files,
  });
  const ended = await look("record-ended");
  assertEquals(ended.evaluated, {
    ...{ last, best, steps: 30, seconds: 4, commit: "abc" },
  });
  const { resumes, hasReport } = detailsOf(ended);
  assertEquals([ended.failure, resumes, hasReport], [undefined, 2, false]);
  // A mean that is no number is no result.
  makeRun(`${root}/record-nan`, {
    record: {
      state: "failed",
      evaluations: { ...evaluations, last: { ...last, meanReturn: NaN } },
    },
    files,
  });
  const failed = await look("record-nan");
  assertEquals([failed.evaluated, failed.failure], [undefined, ""]);
});

Deno.test("a summary has the last values of the log", async () => {
  makeRun(`${root}/values`, { log: `${HEADER}\n${rowsOf(0, 5000)}123` });
  const { summary } = await look("values");
  assertEquals(summary.step, 50_000);
  assertEquals(summary.return, 4998);
  assertEquals(summary.lastEvaluation, { step: 50_000, value: 2499.5 });
  // More than the end of the log would have to be read.
  assertEquals(summary.bestEvaluation, null);
  assertEquals(summary.stepsPerSecond, 80);
  assertEquals(summary.seconds, 4999 / 8);
  assertEquals(summary.statistics, HEADER.split(","));
  assertEquals(
    [summary.algorithm, summary.environment, summary.seed, summary.totalSteps],
    ["a2c", "CartPole-v1", 0, 1000],
  );
  makeRun(`${root}/short`, {
    log: `${HEADER}\n10,1,1,8,NaN,7\n20,1,1,8,3,9\n30,2,2,8,4,9\n40,,,,,5\n`,
  });
  const short = (await look("short")).summary;
  assertEquals(short.bestEvaluation, { step: 20, value: 9 });
  assertEquals(short.lastEvaluation, { step: 40, value: 5 });
});

Deno.test("a run is looked at again where it has changed, and its rest is calculated", async () => {
  const dir = `${root}/live`;
  makeRun(dir, { log: `${HEADER}\n${rowsOf(0, 20)}` });
  const lock = lockRun(dir);
  const entry = await look("live");
  assertEquals(entry.summary.secondsLeft, 10);
  assert(entry.isLive);
  assertEquals(await entry.look(), false);
  const before = entry.logStamp;
  Deno.writeTextFileSync(`${dir}/progress.csv`, rowsOf(20, 21), {
    append: true,
  });
  assertEquals(await entry.look(), true);
  assertEquals([entry.summary.step, entry.logStamp === before], [210, false]);
  lock.release();
  assertEquals(await entry.look(), true);
  assertEquals(entry.summary.state, "failed");
  Deno.writeTextFileSync(
    `${dir}/report.html`,
    "<dt>Stopped</dt><dd>completed</dd>",
  );
  assertEquals(await entry.look(), true);
  assertEquals(entry.summary.state, "ended");
  Deno.removeSync(dir, { recursive: true });
  assertEquals(await entry.look(), false);
});

Deno.test("a file that comes in the tick of the clock in which a run was looked at is found", async () => {
  const dir = `${root}/tick`, time = new Date();
  makeRun(dir, { log: `${HEADER}\n${rowsOf(0, 20)}` });
  Deno.utimeSync(dir, time, time);
  const entry = await look("tick");
  assertEquals(await entry.look(), false);
  Deno.writeTextFileSync(
    `${dir}/report.html`,
    "<dt>Stopped</dt><dd>completed</dd>",
  );
  Deno.utimeSync(dir, time, time);
  const { now } = Date;
  try {
    // However late the next look comes.
    Date.now = () => time.getTime() + 60_000;
    assertEquals(await entry.look(), true);
    assertEquals(entry.summary.state, "ended");
    assertEquals(await entry.look(), false);
  } finally {
    Date.now = now;
  }
});

Deno.test("what is wrong with a configuration is said, and the rest goes on", async () => {
  const bomb = `a: &a [${"x,".repeat(90)}]\n` +
    ["b", "c", "d", "e", "f", "g"].map((it, i) =>
      `${it}: &${it} [${`*${"abcdef"[i]},`.repeat(90)}]\n`
    ).join("");
  const cases: [text: string | Uint8Array, why: RegExp][] = [
    [bomb, /more than 10,000 values/],
    [`a: &a ${"x".repeat(9000)}\nb: [${"*a,".repeat(99)}]`, /too long/],
    ["a: &a [*a]", /values|alias/],
    ["a: !!js/function 'function () {}'", /tag/],
    ["a: !!binary aGk=", /tag/],
    ["a: !!timestamp 2001-01-01", /tag/],
    ["- a", /no mapping/],
    ["a: [", /YAML/],
    [new Uint8Array([0, 255, 254, 0]), /YAML|mapping/],
    ["x".repeat((1 << 20) + 1), /expected up to 1,048,576/],
  ];
  for (const [i, [text, why]] of cases.entries()) {
    const log = `${HEADER}\n${rowsOf(0, 3)}`;
    makeRun(`${root}/yaml-${i}`, { log, files: { "config.yaml": text } });
    const { summary } = await look(`yaml-${i}`);
    assertEquals(summary.problems.length, 1, `case ${i}`);
    assertMatch(summary.problems[0], why);
    assertMatch(summary.problems[0], /^config\.yaml: /);
    assertEquals([summary.step, summary.settings], [30, {}]);
  }
});

Deno.test("a shared agent has ended, and shows the evaluations of its run", async () => {
  const evaluations = "time/steps,eval/return_mean\n10,5\n20,7\n30,6\n";
  makeRun(`${root}/shared`, {
    files: { "agent.safetensors": "", "evaluations.csv": evaluations },
  });
  const entry = await look("shared");
  const { state, reason, step, lastEvaluation, bestEvaluation } = entry.summary;
  assertEquals([state, reason, step], ["ended", "a shared agent", 30]);
  assertEquals(lastEvaluation, { step: 30, value: 6 });
  assertEquals(bestEvaluation, { step: 20, value: 7 });
  assertEquals(entry.logName, "evaluations.csv");
});
