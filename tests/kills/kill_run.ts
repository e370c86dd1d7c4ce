/** One run, in one go and killed again and again. */
import type { SeededRandom } from "@bellman/envs";
import { readRecord, RunFolder } from "@bellman/runs";
import { argumentsOf, type DrawnRun, pick } from "./draw_run.ts";
import type { Order } from "./filesystem.ts";
import { type Ended, runCli } from "./process.ts";
import { differences, remainsOf } from "./remains.ts";

/** An operation of the whole run. */
interface Operation {
  key: string;
  /** Milliseconds until the next one. */
  gap: number;
}

/** A place in the whole run's operations, and a moment there. */
interface Aim {
  at: number;
  moment: NonNullable<Order["moment"]>;
  delay: number;
}

/** Result of killing a run. */
export interface KilledRun {
  /** Each kill's kind of moment. */
  moments: string[];
  /** In words; none is as it should be. */
  differences: string[];
}

const SAVED = /^rename checkpoints\/step_#\.safetensors$/;
const MOMENTS = ["before", "half", "after"] as const;

function readTrace(path: string): Operation[] {
  const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
  const times = lines.map((it) => Number.parseFloat(it));
  return lines.map((line, i) => ({
    key: line.slice(line.indexOf(" ") + 1),
    gap: i + 1 < lines.length ? times[i + 1] - times[i] : 0,
  }));
}

type Choose = (
  trace: Operation[],
  from: number,
  random: SeededRandom,
) => Aim | undefined;

/** Ways to choose a moment after a place, by name. */
const AIMS: Record<string, Choose> = {
  /** In an operation on a file: each kind is as likely as any other. */
  "file operation": (trace, from, random) => {
    const ahead = trace.slice(from);
    if (ahead.length === 0) return undefined;
    const key = pick(random, [...new Set(ahead.map((it) => it.key))]);
    const places = ahead.flatMap((it, i) => it.key === key ? [from + i] : []);
    const at = pick(random, places);
    return { at, moment: pick(random, MOMENTS), delay: 0 };
  },
  /** In the midst of training or an evaluation. */
  "between operations": (trace, from, random) => {
    const places = trace.flatMap(({ gap }, i) =>
      i >= from && gap > 3 ? [i] : []
    );
    if (places.length === 0) return undefined;
    const at = pick(random, places);
    return { at, moment: "after", delay: trace[at].gap * random.uniform() };
  },
  "saving a checkpoint": (trace, from, random) => {
    const places = trace.flatMap(({ key }, i) =>
      i >= from && /^\w+ checkpoints\/\w/.test(key) ? [i] : []
    );
    if (places.length === 0) return undefined;
    return {
      at: pick(random, places),
      moment: pick(random, MOMENTS),
      delay: 0,
    };
  },
  "final evaluation": (trace, _, random) => {
    const at = trace.findLastIndex(({ key }) => SAVED.test(key));
    return { at, moment: "after", delay: trace[at].gap * random.uniform() };
  },
  "policy, report and record": (trace, _, random) => {
    const last = trace.findLastIndex(({ key }) => SAVED.test(key));
    const places = trace.flatMap(({ key }, i) =>
      i > last && /policy|report|plots|run\.json/.test(key) ? [i] : []
    );
    return {
      at: pick(random, places),
      moment: pick(random, MOMENTS),
      delay: 0,
    };
  },
};

/** Names of aims, the ones that end a run's course less often than others. */
const OFTEN = [
  "file operation",
  "file operation",
  "between operations",
  "between operations",
  "saving a checkpoint",
  ...Object.keys(AIMS),
];

/** Aims at what lies ahead. */
function drawAim(
  trace: Operation[],
  from: number,
  random: SeededRandom,
): { name: string; aim: Aim } {
  for (;;) {
    const name = pick(random, OFTEN);
    const aim = AIMS[name](trace, from, random);
    if (aim !== undefined) return { name, aim };
  }
}

/** The printed result without the time and the folder. */
function figuresOf(output: string): string {
  return output.replace(/ in [\d.]+ s\b/, "").replace(/^Run folder.*$/m, "");
}

const hasEnded = (folder: string): boolean =>
  readRecord(new RunFolder(folder))?.state === "ended";

function failureOf({ code, hung, errors }: Ended): string | undefined {
  if (hung) return `hung: ${errors}`;
  return code === 0 ? undefined : `exit code ${code}: ${errors.trim()}`;
}

/** Next moment to kill, and the phase of the run at that moment. */
interface Next {
  name: string;
  order: Omit<Order, "folder">;
  from: number;
}

/**
 * Draws a moment.
 *
 * @param operations Those of the whole run.
 * @param course Where the process begins, and where it may be killed from.
 */
function drawNext(
  operations: Operation[],
  { begin, from }: { begin: number; from: number },
  random: SeededRandom,
): Next {
  if (begin > 0 && random.uniform() < 0.15) {
    const nth = 1 + random.integer(20);
    const order = { key: "*", nth, moment: pick(random, MOMENTS) };
    return { name: "resuming", order, from };
  }
  const { name, aim: { at, moment, delay } } = drawAim(
    operations,
    from,
    random,
  );
  const { key } = operations[at];
  // A process that is resumed does again what was done since the checkpoint.
  const nth = operations.slice(begin, at + 1)
    .filter((it) => it.key === key).length;
  const reached = operations.slice(0, at + (moment === "before" ? 0 : 1))
    .findLastIndex((it) => SAVED.test(it.key)) + 1;
  const order = { key, nth: Math.max(1, nth), moment, delay };
  return { name, order, from: Math.max(from, reached) };
}

function comparison(whole: string, killed: string): string[] {
  try {
    return differences(remainsOf(whole), remainsOf(killed));
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * Trains once in one go and once killed again and again, and compares.
 *
 * @param run The run.
 * @param random Draws the number of kills and their moments.
 * @param root An empty folder to run in.
 */
export async function killRun(
  run: DrawnRun,
  random: SeededRandom,
  root: string,
): Promise<KilledRun> {
  const whole = `${root}/whole`, folder = `${root}/killed`;
  const trace = `${root}/trace`;
  const start = (out: string) => [
    ...[...argumentsOf(run), "--unchecked"],
    ...["--out", out],
  ];
  const result: KilledRun = { moments: [], differences: [] };
  const once = await runCli(start(whole), { folder: whole, trace });
  const failure = failureOf(once);
  if (failure !== undefined) {
    result.differences.push(`in one go: ${failure}`);
    return result;
  }
  const operations = readTrace(trace);
  // Before its first checkpoint there is nothing to go on from.
  let from = operations.findIndex(({ key }) => SAVED.test(key)) + 1;
  const most = 3 + random.integer(8);
  let args = start(folder), begin = 0;
  let last: Ended | undefined;
  for (let i = 0; !hasEnded(folder); i++) {
    const next = i < most
      ? drawNext(operations, { begin, from }, random)
      : undefined;
    last = await runCli(args, { folder, ...next?.order });
    if (last.signal === "SIGKILL" && !last.hung) {
      result.moments.push(next!.name);
    } else if (failureOf(last) !== undefined) {
      result.differences.push(`${args.join(" ")}: ${failureOf(last)}`);
      return result;
    }
    begin = from = next?.from ?? from;
    args = ["train", "--quiet", "--resume", folder];
  }
  result.differences.push(...comparison(whole, folder));
  const printed = figuresOf(last?.output ?? "");
  // One that was killed after its record was written printed nothing.
  if (printed !== "" && printed !== figuresOf(once.output)) {
    result.differences.push(`printed ${printed}, not ${once.output}`);
  }
  return result;
}
