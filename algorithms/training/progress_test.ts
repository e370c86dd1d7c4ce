import { assert, assertEquals } from "@std/assert";
import {
  createProgress,
  formatDuration,
  progressCalls,
  type ProgressOptions,
  type ProgressState,
  shownIfLong,
} from "./progress.ts";
import { Screen } from "./testdata/screen.ts";

/** A display with a clock to set, the text that it wrote and the screen with it. */
function reporter(
  options: Partial<ProgressOptions>,
  size = { columns: 80, rows: 24 },
) {
  const screen = new Screen(size);
  const seen = { text: "", time: 0, size };
  const progress = createProgress({
    write(text) {
      seen.text += text;
      screen.write(text);
    },
    isTerminal: true,
    color: false,
    now: () => seen.time,
    size: () => seen.size,
    ...options,
  });
  const at = (seconds: number, step: number, meanReturn = NaN) => {
    seen.text = "";
    seen.time = seconds * 1000;
    progress.update({ step, totalTimesteps: 1000, startStep: 0, meanReturn });
    return seen.text;
  };
  /** Logs a row of an update. */
  const log = (seconds: number, loss: number, more = {}) => {
    seen.time = seconds * 1000;
    progress.write({
      step: 1,
      statistics: {
        "time/steps": 1,
        "time/updates": 5,
        "rollout/return_mean": NaN,
        "train/loss": loss,
        ...more,
      },
    });
  };
  /** Logs an evaluation. */
  const evaluate = (seconds: number, step: number) => {
    seen.time = seconds * 1000;
    progress.write({
      step,
      statistics: {
        "eval/return_mean": 487.25,
        "eval/return_std": 12,
        "eval/return_min": 455,
        "eval/return_max": 500,
      },
    });
  };
  return { progress, seen, screen, at, log, evaluate };
}

const done = {
  step: 1000,
  totalTimesteps: 1000,
  startStep: 0,
  meanReturn: 21.04,
};

Deno.test("elsewhere a plain line comes after a second and then every ten", () => {
  const { progress, seen, at } = reporter({ isTerminal: false, color: true });
  assertEquals(at(0, 0), "");
  assertEquals(at(0.9, 9), "");
  assertEquals(at(1, 10), "  1%  10/1,000 steps  10/s  1:39 left\n");
  assertEquals(at(10.9, 90), "");
  assertEquals(at(11, 100), " 10%  100/1,000 steps  9/s  1:40 left\n");
  assertEquals(at(20.9, 190), "");
  assertEquals(
    at(21, 400, 21.04),
    " 40%  400/1,000 steps  30/s  0:20 left  return 21.0\n",
  );
  seen.text = "";
  progress.clear();
  assertEquals(seen.text, "");
  seen.time = 31_000;
  progress.finish(done);
  assertEquals(seen.text, "100%  1,000/1,000 steps  60/s  return 21.0\n");
});

Deno.test("elsewhere each evaluation is a line, and there are no tables", () => {
  const { seen, log, evaluate } = reporter({ isTerminal: false });
  log(0, 1);
  for (let i = 0; i < 20; i++) evaluate(0, i);
  assertEquals(seen.text.split("\n").length - 1, 20);
  let apart = "";
  const other = reporter({ writeEvaluations: (text) => apart += text });
  other.at(0, 0);
  other.seen.text = "";
  other.evaluate(0, 12_000);
  assertEquals(other.seen.text, "");
  assertEquals(
    apart,
    "Evaluation at step 12,000: return 487.3 ± 12, from 455 to 500\n",
  );
});

Deno.test("in a terminal the bar is there at once and stays on one line", () => {
  const { progress, seen, screen, at } = reporter({});
  at(0, 0);
  assertEquals(screen.lines.length, 1);
  assert(screen.lines[0].startsWith("  0%  "), screen.lines[0]);
  assertEquals(at(0.05, 1), "");
  at(1, 260, 21);
  assertEquals(screen.lines, [
    " 26%  ━━━━━━╸                    260/1,000 steps  260/s  0:03 left  return 21.0",
  ]);
  progress.clear();
  assertEquals(screen.lines, [""]);
  seen.text = "";
  progress.clear();
  assertEquals(seen.text, "");
  seen.time = 2000;
  progress.finish(done);
  assertEquals(screen.lines.length, 2);
  assert(screen.lines[0].endsWith("return 21.0"));
});

Deno.test("what is printed and each evaluation stay above table and bar", () => {
  const { progress, screen, at, log, evaluate } = reporter({});
  progress.print("before\n");
  at(0, 0);
  log(0, 0.5);
  at(1, 100);
  progress.print("a notice");
  evaluate(1, 100);
  const [before, notice, evaluation, ...block] = screen.lines;
  assertEquals([before, notice], ["before", "a notice"]);
  assertEquals(
    evaluation,
    "Evaluation at step 100: return 487.3 ± 12, from 455 to 500",
  );
  assertEquals(block.slice(0, -1), [
    "time                  rollout               train",
    "  updates        5      return_mean    -      loss         0.5",
  ]);
  assert(block.at(-1)!.startsWith(" 10%  ━━━"), block.at(-1));
});

Deno.test("a table comes every two seconds, the last one in the end", () => {
  const { progress, screen, at, log } = reporter({});
  const loss = () => /loss\s+(\S+)/.exec(screen.lines.join("\n"))?.[1];
  at(0, 0);
  assertEquals(loss(), undefined);
  log(0, 1);
  assertEquals(loss(), "1");
  for (let i = 1; i < 20; i++) log(i / 10, 1 + i);
  at(1.95, 300);
  assertEquals(loss(), "1");
  log(2, 22);
  assertEquals(loss(), "22");
  log(2.1, 23);
  const { length } = screen.lines;
  progress.finish(done);
  assertEquals(loss(), "23");
  assertEquals(screen.lines.length, length + 1);
});

Deno.test("evaluations that come too fast to be read are left out in a terminal", () => {
  const { screen, at, evaluate } = reporter({}, { columns: 80, rows: 100 });
  at(0, 0);
  for (let i = 1; i <= 600; i++) {
    evaluate(i / 10, i);
    at(i / 10, i);
  }
  const shown = screen.lines.filter((line) => line.startsWith("Evaluation"));
  assertEquals(shown.length, 9);
  const { screen: slow, ...other } = reporter({}, { columns: 80, rows: 100 });
  other.at(0, 0);
  for (let i = 1; i <= 30; i++) other.evaluate(12 * i, i);
  assertEquals(slow.lines.length, 31);
});

Deno.test("each part of what is written leaves a bar to see", () => {
  const { progress, seen, at, log, evaluate } = reporter({});
  at(0, 0);
  seen.text = "";
  log(0, 1);
  for (let i = 1; i < 9; i++) {
    log(3 * i, i, i % 2 ? { "train/more": 1, "train/another": 2 } : {});
    if (i % 3 === 0) evaluate(3 * i, i);
    progress.print("told");
    const { text } = seen;
    at(3 * i, 10 * i);
    seen.text = text + seen.text;
  }
  // The first bar is on the screen before.
  const screen = new Screen();
  screen.write("  0%  ");
  for (const character of seen.text) {
    screen.write(character);
    assert(
      screen.lines.some((line) => /^ *\d+%/.test(line)),
      screen.lines.join("\n"),
    );
  }
});

Deno.test("colour is used where it is wanted", () => {
  const { at } = reporter({ color: true });
  at(0, 0);
  const line = at(1, 500);
  assertEquals(line.includes("\x1b[36m"), true);
  assertEquals(line.includes("\x1b[0m"), true);
  // deno-lint-ignore no-control-regex -- sequences of a terminal
  assertEquals(/\x1b\[[\d;]*m/.test(reporter({}).at(0, 0)), false);
});

Deno.test("a narrow terminal keeps the bar, and no line breaks", () => {
  const { at, log, screen } = reporter({}, { columns: 40, rows: 24 });
  at(0, 0);
  at(1, 500, 21);
  assertEquals(screen.lines, [" 50%  ━━━━╸      0:01 left  return 21.0"]);
  log(2, 1, { "train/a_long_name_of_a_statistic_is_cut": 1 });
  assertEquals(screen.lines.every((line) => line.length < 40), true);
  const tiny = reporter({}, { columns: 12, rows: 2 });
  tiny.at(0, 0);
  tiny.log(0, 1);
  tiny.at(1, 500, 21);
  assertEquals(tiny.screen.lines, [" 50%  retur"]);
});

Deno.test("a table is no higher than the terminal", () => {
  const { at, log, screen } = reporter({}, { columns: 30, rows: 8 });
  at(0, 0);
  const many = Array.from({ length: 30 }, (_, i) => [`train/loss_${i}`, i]);
  log(0, 1, Object.fromEntries(many));
  assertEquals(screen.lines.length, 7);
  assertEquals(screen.lines.at(-2), "  ...");
  log(3, 1, Object.fromEntries(many));
  assertEquals(screen.lines.length, 7);
});

Deno.test("a terminal that becomes narrower is drawn over whole", () => {
  const { at, log, seen } = reporter({});
  at(0, 0);
  log(0, 1);
  seen.size = { columns: 40, rows: 24 };
  // Two lines of a table and a bar that the terminal has wrapped, then four and a bar.
  assert(at(1, 100).startsWith("\r\x1b[5A"), JSON.stringify(seen.text));
  assert(at(2, 200).includes("\r\x1b[4A"), JSON.stringify(seen.text));
});

Deno.test("the rate is that of the last seconds, the time left may be hours", () => {
  const { at } = reporter({ isTerminal: false });
  at(0, 0);
  at(10, 900);
  assertEquals(at(20, 910), " 91%  910/1,000 steps  1/s  1:30 left\n");
  const slow = reporter({ isTerminal: false });
  slow.at(0, 0);
  assertEquals(
    slow.at(100, 10),
    "  1%  10/1,000 steps  0/s  2:45:00 left\n",
  );
});

Deno.test("a resumed run measures its own steps", () => {
  const { at } = reporter({ isTerminal: false });
  at(0, 500);
  assertEquals(at(10, 600), " 60%  600/1,000 steps  10/s  0:40 left\n");
});

Deno.test("durations are rounded up, and have hours where there are some", () => {
  const texts = [59.1, 60, 3600].map(formatDuration);
  assertEquals(texts, ["1:00", "1:00", "1:00:00"]);
});

Deno.test("a function receives copies, ten times a second at most, and the end", () => {
  const received: ProgressState[] = [];
  let time = 0;
  const progress = progressCalls((it) => received.push(it), () => time);
  const state = { totalTimesteps: 1000, startStep: 0, meanReturn: 21, step: 0 };
  for (; time < 250; time += 10) {
    state.step++;
    progress.update(state);
  }
  progress.finish({ ...state, step: 1000 });
  assertEquals(received.map(({ step }) => step), [1, 11, 21, 1000]);
});

Deno.test("a bar that nobody asked for is not shown of short runs", () => {
  for (const [end, shown] of [[400, []], [700, [500, 600, "end"]]] as const) {
    let time = 0;
    const seen: unknown[] = [];
    const progress = shownIfLong({
      update: () => seen.push(time),
      finish: () => seen.push("end"),
    }, () => time);
    for (; time < end; time += 100) progress.update(done);
    progress.finish(done);
    assertEquals(seen, [...shown]);
  }
});
