/** Reads runs of older versions, which wrote no record. */
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

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");

const ESCAPED: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&amp;": "&",
};

/** Largest report, its bytes searched for the reason, and letters of a line. */
const MOST_REPORT = 100e6, REPORT_START = 1 << 16, MOST_LINE = 2000;
/** Largest number of values in the settings, and of their letters: anchors may repeat them. */
const MOST_VALUES = 10_000, MOST_LETTERS = 1 << 18;

/** Makes one line of an untrusted text, without terminal control sequences. */
function asLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim().slice(0, MOST_LINE);
}

/** Finds the stop reason of such a run in its report. */
export function reasonIn(report: string): string | undefined {
  const reason = /<dt>Stopped<\/dt><dd>([^<]*)<\/dd>/.exec(report)?.[1];
  return reason &&
    asLine(reason.replaceAll(/&(lt|gt|quot|#39|amp);/g, (it) => ESCAPED[it]));
}

/** Reads a file of a run; undefined if there is none. */
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

/** Reads the evaluations of the last and the best agent of an experiment's run. */
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
    // They are evaluated again.
    return {};
  }
}

/**
 * Makes the record of a run that has none from its log and report.
 *
 * @param folder Folder of the run.
 * @param settings Settings of the run.
 * @param onNotice Receives a line about a log that cannot be read.
 * @returns The record.
 * @throws {SyntaxError} If a file is invalid, or leads out of its folder.
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

/** Reads the log; an empty one if it is damaged. */
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
 * Parses `config.yaml` of such a run: a limited number of plain values.
 *
 * @throws {SyntaxError} If it is not a mapping, or too large.
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
