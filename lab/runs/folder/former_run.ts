/** Reads runs of versions that wrote no record. */
import { builtin } from "@bellman/files";
import { evaluationSeeds } from "@bellman/training";
import { parseText } from "./yaml_text.ts";
import { type CurveRows, readCurves } from "./curves.ts";
import { problemOf, readTextInside } from "./inside.ts";
import type {
  RecordedEvaluation,
  RunRecord,
  RunSettings,
  RunState,
} from "./record.ts";

// Looked up where they are used: pages have none.
const fs = () => builtin("node:fs");

const ESCAPED: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&amp;": "&",
};

/** Largest report, its bytes in which the reason is looked for, and letters of a line. */
const MOST_REPORT = 100e6, REPORT_START = 1 << 16, MOST_LINE = 2000;
/** Most values of the settings, and letters of all: anchors may repeat them. */
const MOST_VALUES = 10_000, MOST_LETTERS = 1 << 18;

/** Makes a text of somebody else a line, without what would command a terminal. */
function asLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim().slice(0, MOST_LINE);
}

/** Finds the reason for which such a run stopped in its report. */
export function reasonIn(report: string): string | undefined {
  const found = /<dt>Stopped<\/dt><dd>([^<]*)<\/dd>/.exec(report)?.[1];
  return found &&
    asLine(found.replaceAll(/&(lt|gt|quot|#39|amp);/g, (it) => ESCAPED[it]));
}

/** Reads a file of a run; undefined where there is none. */
type Read = (
  name: string,
  options?: { most?: number; start?: number },
) => string | undefined;

function stateOf(read: Read): { state: RunState; reason?: string } {
  const failure = read("failure.txt");
  if (failure !== undefined) {
    return { state: "failed", reason: asLine(failure) };
  }
  const report = read("report.html", {
    most: MOST_REPORT,
    start: REPORT_START,
  });
  if (report === undefined) return { state: "running" };
  const reason = reasonIn(report) ?? "completed";
  const state = reason === "interrupted" ? "stopped" : "ended";
  return { state, reason };
}

/** Reads the evaluations of the last and the best agent that an experiment made. */
function finalEvaluations(
  read: Read,
): Pick<RunRecord["evaluations"], "last" | "best"> & { commit?: string } {
  const text = read("evaluations.json");
  if (text === undefined) return {};
  try {
    const { episodes, seed, last, best, commit } = JSON.parse(text);
    const whole = (it: RecordedEvaluation) => {
      if (Number.isFinite(it.meanReturn)) return { ...it, episodes, seed };
      throw new SyntaxError("it has no evaluations");
    };
    return {
      last: whole(last),
      best: whole(best),
      ...commit && { commit: String(commit) },
    };
  } catch {
    // They are made once more.
    return {};
  }
}

/**
 * Makes the record of a run of a version that wrote none, out of its log and report.
 *
 * @param folder Folder of the run.
 * @param settings Its settings.
 * @param onNotice Takes a line about a log that cannot be read.
 * @returns The record.
 * @throws {SyntaxError} If one of its files is none, or leads out of its folder.
 */
export function formerRecord(
  { dir }: { readonly dir: string },
  settings: RunSettings,
  onNotice: (line: string) => void = () => {},
): RunRecord {
  const root = fs().realpathSync(dir);
  const read: Read = (name, options) => {
    try {
      return readTextInside(root, `${dir}/${name}`, options);
    } catch (cause) {
      throw new SyntaxError(`${name}: ${problemOf(cause)}`, { cause });
    }
  };
  const { values, steps } = logOf(dir, onNotice);
  const last = (name: string) => values[name]?.findLast(Number.isFinite) ?? 0;
  const seed = Number(settings.seed ?? 0);
  const means = values["eval/return_mean"] ?? [];
  const during = means.map((meanReturn, i) => ({
    step: steps[i],
    seed: evaluationSeeds(seed).during,
    episodes: Number(settings.evaluationEpisodes),
    meanReturn,
    stdReturn: values["eval/return_std"]?.[i] ?? NaN,
  })).filter(({ meanReturn }) => Number.isFinite(meanReturn));
  const { commit, ...final } = finalEvaluations(read);
  const changed = fs().statSync(dir).mtime.toISOString();
  return {
    ...stateOf(read),
    ...final.last !== undefined && { state: "ended" },
    since: changed,
    begun: changed,
    step: steps.at(-1) ?? 0,
    updates: last("time/updates"),
    episodes: last("time/episodes"),
    seconds: last("time/seconds"),
    resumes: Number.parseInt(read("resumes.txt") ?? "") || 0,
    ...commit !== undefined && { commit },
    engine: String(settings.engine ?? ""),
    versions: {},
    settings,
    evaluations: { during, ...final },
    checkpoints: [],
  };
}

/** Reads the log; none where it is damaged. */
function logOf(dir: string, onNotice: (line: string) => void): CurveRows {
  try {
    return readCurves(dir, {
      keys: [
        ...["eval/return_mean", "eval/return_std"],
        ...["time/updates", "time/episodes", "time/seconds"],
      ],
    });
  } catch (error) {
    onNotice(`Cannot read progress from ${dir}: ${problemOf(error)}`);
    return { from: 0, next: 0, steps: [], values: {} };
  }
}

/**
 * Reads `config.yaml` of such a run: plain values, no more than some.
 *
 * @throws {SyntaxError} If it is no mapping, or too much.
 */
export function formerSettings(text: string): RunSettings {
  const value = parseText(text, "core");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError("it is no mapping of keys to values");
  }
  const rest: unknown[] = [value];
  for (let values = 1, letters = 0; rest.length > 0; values++) {
    const next = rest.pop();
    if (typeof next === "string") letters += next.length;
    for (const [key, inner] of Object.entries(Object(next))) {
      if (typeof next !== "object") break;
      letters += key.length;
      rest.push(inner);
    }
    if (values + rest.length > MOST_VALUES || letters > MOST_LETTERS) {
      throw new SyntaxError("its values are too many or too long");
    }
  }
  return JSON.parse(JSON.stringify(value));
}
