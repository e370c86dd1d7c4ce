/** Reads runs of versions that wrote no record. */
import type {
  RecordedEvaluation,
  RunFolder,
  RunRecord,
  RunState,
} from "@bellman/runs";
import { evaluationSeeds, type LogRow, readProgress } from "@bellman/training";
import { existsSync, statSync } from "node:fs";
import type { ResolvedConfig } from "./settings/resolve.ts";
import { logOf } from "./settings/shared_folder.ts";
import { asLine, messageOf } from "./program/errors.ts";
import { readText } from "./program/read_text.ts";

const ESCAPED: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&amp;": "&",
};

/** Finds the reason for which such a run stopped in its report. */
export function reasonIn(report: string): string | undefined {
  const found = /<dt>Stopped<\/dt><dd>([^<]*)<\/dd>/.exec(report)?.[1];
  return found &&
    asLine(found.replaceAll(/&(lt|gt|quot|#39|amp);/g, (it) => ESCAPED[it]));
}

function stateOf(
  { dir, reportPath }: RunFolder,
): { state: RunState; reason?: string } {
  const failure = `${dir}/failure.txt`;
  if (existsSync(failure)) {
    const reason = asLine(readText(failure, "the failure").trim());
    return { state: "failed", reason };
  }
  if (!existsSync(reportPath)) return { state: "running" };
  const reason = reasonIn(readText(reportPath, "the report")) ?? "completed";
  return reason === "interrupted"
    ? { state: "stopped", reason }
    : { state: "ended", reason };
}

/** Reads the evaluations of the last and the best agent that an experiment made. */
function finalEvaluations(
  dir: string,
): Pick<RunRecord["evaluations"], "last" | "best"> & { commit?: string } {
  const path = `${dir}/evaluations.json`;
  if (!existsSync(path)) return {};
  try {
    const { episodes, seed, last, best, commit } = JSON.parse(
      readText(path, "the evaluations"),
    );
    const whole = (it: RecordedEvaluation) => ({ ...it, episodes, seed });
    return { last: whole(last), best: whole(best), commit };
  } catch {
    // They are made once more.
    return {};
  }
}

/** Reads the rows of a log; none where it is damaged. */
function rowsOf(log: string, onNotice: (line: string) => void): LogRow[] {
  try {
    return existsSync(log) ? readProgress(log) : [];
  } catch (error) {
    onNotice(messageOf(error));
    return [];
  }
}

/**
 * Makes the record of a run of a version that wrote none, out of its log and report.
 *
 * @param folder Folder of the run.
 * @param config Its settings.
 * @param onNotice Takes a line about a log that cannot be read.
 */
export function formerRecord(
  folder: RunFolder,
  config: ResolvedConfig,
  onNotice: (line: string) => void = () => {},
): RunRecord {
  const rows = rowsOf(logOf(folder), onNotice);
  const value = (name: string) =>
    rows.findLast((it) => Number.isFinite(it.statistics[name]))
      ?.statistics[name] ?? 0;
  const during = rows.filter(({ statistics }) =>
    Number.isFinite(statistics["eval/return_mean"])
  ).map(({ step, statistics }) => ({
    step,
    seed: evaluationSeeds(config.seed).during,
    episodes: config.evaluationEpisodes,
    meanReturn: statistics["eval/return_mean"],
    stdReturn: statistics["eval/return_std"] ?? NaN,
  }));
  const resumes = `${folder.dir}/resumes.txt`;
  const { commit, ...final } = finalEvaluations(folder.dir);
  const { mtime } = statSync(folder.dir);
  return {
    ...stateOf(folder),
    ...final.last !== undefined && { state: "ended" },
    since: mtime.toISOString(),
    begun: mtime.toISOString(),
    step: rows.at(-1)?.step ?? 0,
    updates: value("time/updates"),
    episodes: value("time/episodes"),
    seconds: value("time/seconds"),
    resumes: existsSync(resumes)
      ? Number.parseInt(readText(resumes, "the number of resumes")) || 0
      : 0,
    ...commit && { commit },
    engine: config.engine,
    versions: {},
    settings: config,
    evaluations: { during, ...final },
    checkpoints: [],
  };
}
