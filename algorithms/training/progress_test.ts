import { assertEquals } from "@std/assert";
import { createProgress, type ProgressOptions } from "./progress.ts";

/** A reporter with a clock to set and the text that it wrote. */
function reporter(options: Partial<ProgressOptions>) {
  const seen = { text: "", time: 0 };
  const progress = createProgress({
    write: (text) => seen.text += text,
    isTerminal: true,
    color: false,
    now: () => seen.time,
    ...options,
  });
  const at = (seconds: number, step: number, meanReturn = NaN) => {
    seen.text = "";
    seen.time = seconds * 1000;
    progress.update({ step, totalTimesteps: 1000, startStep: 0, meanReturn });
    return seen.text;
  };
  return { progress, seen, at };
}

const done = {
  step: 1000,
  totalTimesteps: 1000,
  startStep: 0,
  meanReturn: 21.04,
};

Deno.test("elsewhere a plain line comes every ten seconds", () => {
  const { progress, seen, at } = reporter({ isTerminal: false, color: true });
  assertEquals(at(0, 0), "");
  assertEquals(at(9.9, 90), "");
  assertEquals(at(10, 100), " 10%  100/1,000 steps  10/s  1:30 left\n");
  assertEquals(at(19.9, 190), "");
  assertEquals(
    at(20, 400, 21.04),
    " 40%  400/1,000 steps  30/s  0:20 left  return 21.0\n",
  );
  seen.text = "";
  progress.clear!();
  assertEquals(seen.text, "");
  seen.time = 30_000;
  progress.finish(done);
  assertEquals(seen.text, "100%  1,000/1,000 steps  60/s  return 21.0\n");
});

Deno.test("in a terminal the bar stays on one line", () => {
  const { progress, seen, at } = reporter({});
  assertEquals(at(0, 0), "");
  assertEquals(at(0.05, 1), "");
  const line = at(1, 260, 21);
  assertEquals(
    line,
    "\r\x1b[2K 26%  ━━━━━━╸                    260/1,000 steps  260/s  0:03 left  return 21.0",
  );
  assertEquals(line.length - 5, 79);
  seen.text = "";
  progress.clear!();
  assertEquals(seen.text, "\r\x1b[2K");
  seen.text = "";
  progress.clear!();
  assertEquals(seen.text, "");
  seen.time = 2000;
  progress.finish(done);
  assertEquals(seen.text.endsWith("return 21.0\n"), true);
});

Deno.test("colour is used where it is wanted", () => {
  const { at } = reporter({ color: true });
  at(0, 0);
  const line = at(1, 500);
  assertEquals(line.includes("\x1b[36m"), true);
  assertEquals(line.includes("\x1b[0m"), true);
});

Deno.test("a narrow terminal gets no bar, and no line breaks", () => {
  const { at } = reporter({ columns: 40 });
  at(0, 0);
  // The text is cut at the last column but one.
  assertEquals(
    at(1, 500, 21),
    "\r\x1b[2K 50%  500/1,000 steps  500/s  0:01 left",
  );
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
