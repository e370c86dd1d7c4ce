/** One run, in one go and killed again and again. */
import type { SeededRandom } from "@bellman/envs";
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

/** What came of killing a run. */
export interface KilledRun {
  kills: number;
  /** Where the kills came, by kind of moment. */
  moments: string[];
  /** In words; none is as it should be. */
  differences: string[];
}

const SAVED = /^rename checkpoints\/step_#\.json$/;
const MOMENTS = ["before", "half", "after"] as const;

function readTrace(path: string): Operation[] {
  const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
  const times = lines.map((it) => Number.parseFloat(it));
  return lines.map((line, i) => ({
    key: line.slice(line.indexOf(" ") + 1),
    gap: i + 1 < lines.length ? times[i + 1] - times[i] : 0,
  }));
}

/** Ways to choose a moment after a place, by name. */
const AIMS: Record<
  string,
  (trace: Operation[], from: number, random: SeededRandom) => Aim | undefined
> = {
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
  "between arrays and manifest": (trace, from, random) => {
    const places = trace.flatMap(({ key }, i) =>
      i >= from && /^rename .*safetensors$/.test(key) ? [i] : []
    );
    if (places.length === 0) return undefined;
    return { at: pick(random, places), moment: "after", delay: 0 };
  },
  "final evaluation": (trace, _, random) => {
    const at = trace.findLastIndex(({ key }) => SAVED.test(key));
    return { at, moment: "after", delay: trace[at].gap * random.uniform() };
  },
  "policy and report": (trace, _, random) => {
    const last = trace.findLastIndex(({ key }) => SAVED.test(key));
    const places = trace.flatMap(({ key }, i) =>
      i > last && /policy|report|plots/.test(key) ? [i] : []
    );
    return {
      at: pick(random, places),
      moment: pick(random, MOMENTS),
      delay: 0,
    };
  },
};

/** The printed result without the time and the folder. */
function figuresOf(output: string): string {
  return output.replace(/ in [\d.]+ s,/, "").replace(/^Run folder.*$/m, "");
}

const hasEnded = (folder: string): boolean => {
  try {
    return Deno.statSync(`${folder}/report.html`).isFile;
  } catch {
    return false;
  }
};

function failureOf({ code, hung, errors }: Ended): string | undefined {
  if (hung) return `hung: ${errors}`;
  return code === 0 ? undefined : `exit code ${code}: ${errors.trim()}`;
}

/**
 * Trains once in one go and once killed again and again, and compares.
 *
 * @param run The run.
 * @param random Draws the number of kills and their moments.
 * @param root An empty folder to run in.
 * @throws {Error} When the run fails in one go.
 */
export async function killRun(
  run: DrawnRun,
  random: SeededRandom,
  root: string,
): Promise<KilledRun> {
  const whole = `${root}/whole`, folder = `${root}/killed`;
  const trace = `${root}/trace`;
  const start = (out: string) => [...argumentsOf(run), "--out", out];
  const once = await runCli(start(whole), { folder: whole, trace });
  const failure = failureOf(once);
  if (failure !== undefined) {
    throw new Error(`Cannot run ${start(whole).join(" ")}: ${failure}`);
  }
  const operations = readTrace(trace);
  // Before its first checkpoint there is nothing to go on from.
  let from = operations.findIndex(({ key }) => SAVED.test(key)) + 1;
  const killed: KilledRun = { kills: 0, moments: [], differences: [] };
  const most = 2 + random.integer(8);
  let args = start(folder), last: Ended | undefined;
  for (let i = 0; !hasEnded(folder); i++) {
    const order: Order = { folder };
    let name = "";
    if (i > 0 && i < most && random.uniform() < 0.12) {
      name = "resuming";
      const [nth, moment] = [1 + random.integer(20), pick(random, MOMENTS)];
      Object.assign(order, { key: "*", nth, moment });
    } else if (i < most) {
      name = pick(random, Object.keys(AIMS));
      const aim = AIMS[name](operations, from, random);
      if (aim !== undefined) {
        const { at, moment, delay } = aim;
        const { key } = operations[at];
        // A process that is resumed does again what was done since the checkpoint.
        const begin = i === 0 ? 0 : from;
        const nth = operations.slice(begin, at + 1)
          .filter((it) => it.key === key).length;
        Object.assign(order, { key, nth: Math.max(1, nth), moment, delay });
        const reached = operations.slice(0, at + (moment === "before" ? 0 : 1))
          .findLastIndex((it) => SAVED.test(it.key));
        from = Math.max(from, reached + 1);
      }
    }
    last = await runCli(args, order);
    if (last.signal === "SIGKILL" && !last.hung) {
      killed.kills++;
      killed.moments.push(name);
    } else if (failureOf(last) !== undefined) {
      killed.differences.push(`${args.at(-1)}: ${failureOf(last)}`);
      return killed;
    }
    args = ["train", "--quiet", "--resume", folder];
  }
  killed.differences.push(
    ...differences(remainsOf(whole), remainsOf(folder)),
  );
  const printed = figuresOf(last?.output ?? "");
  // One that was killed after its report printed nothing.
  if (printed !== "" && printed !== figuresOf(once.output)) {
    killed.differences.push(`printed ${printed}, not ${once.output}`);
  }
  return killed;
}
