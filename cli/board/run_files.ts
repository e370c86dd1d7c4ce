/** Files of a run's folder but its logs, as the board shows them. */
import { isStateRecord } from "@bellman/files";
import { parseRecord, type RunRecord } from "@bellman/runs";
import { parseYaml } from "../../lab/runs/settings/yaml.ts";
import { reasonIn } from "../../lab/runs/folder/former_run.ts";
import { asLine } from "../../lab/runs/program/errors.ts";
import {
  type InsideFile,
  MOST_BYTES,
  readPart,
  readTextInside,
  withInside,
} from "./inside.ts";
import type {
  EvaluatedAgent,
  EvaluationPoint,
  RunDetails,
} from "./messages.ts";

/** Most values of a configuration, and letters of all. */
const MOST_VALUES = 10_000, MOST_LETTERS = 1 << 18;

/** A run's configuration, and its text. */
export interface RunSettings {
  text: string;
  settings: Record<string, unknown>;
}

/** Reads a file of settings: plain values, no more than some. */
export function readSettings(file: InsideFile): RunSettings {
  const text = readTextInside(file);
  const value = parseYaml(text, { mostValues: MOST_VALUES, schema: "core" });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError("it is no mapping of keys to values");
  }
  // Anchors may repeat long texts.
  if (lettersOf(value) > MOST_LETTERS) {
    throw new SyntaxError("its values are too long");
  }
  return { text, settings: JSON.parse(JSON.stringify(value)) };
}

/** Counts the letters of all keys and texts in a value. */
function lettersOf(value: unknown): number {
  const rest: unknown[] = [value];
  let count = 0;
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string") count += next.length;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next)) {
      count += key.length;
      rest.push(inner);
    }
  }
  return count;
}

/** Bytes of a report in which the reason is looked for. */
const REPORT_START = 1 << 16;

/** Reads the reason for which a run stopped from its report; undefined where it has none. */
export function readStopReason(report: InsideFile): string | undefined {
  return withInside(report, ({ descriptor }) => {
    const bytes = readPart(descriptor, { at: 0, length: REPORT_START });
    return reasonIn(new TextDecoder().decode(bytes));
  });
}

/** Reads the last line of a text, such as why a run failed. */
export function readLine(file: InsideFile): string {
  return asLine(readTextInside(file).trim());
}

/** Reads a whole number; 0 where there is none. */
export function readCount(file: InsideFile): number {
  return Number.parseInt(readTextInside(file)) || 0;
}

/** Evaluations of a finished run, as `evaluations.json` has them. */
export type FinishedEvaluations =
  & NonNullable<RunDetails["evaluations"]>
  & { steps: number; seconds: number; commit: string };

/** Reads the record of a run. */
export function readRunRecord(file: InsideFile): RunRecord {
  return parseRecord(readTextInside(file), "run.json");
}

/** Returns the evaluations at the end of a run, if its record has them. */
export function finishedIn(
  { evaluations: { last, best }, step: steps, seconds, commit = "" }: RunRecord,
): FinishedEvaluations | undefined {
  if (last === undefined || best === undefined) return undefined;
  return [last, best].every((it) => Number.isFinite(it.meanReturn))
    ? { last, best, steps, seconds, commit }
    : undefined;
}

/** Reads `evaluations.json`, of versions that wrote no record. */
export function readEvaluated(file: InsideFile): FinishedEvaluations {
  const found = JSON.parse(readTextInside(file)) ?? {};
  const agentOf = (it: Record<string, unknown> | undefined): EvaluatedAgent => {
    const [step, meanReturn, stdReturn] = [
      it?.step,
      it?.meanReturn,
      it?.stdReturn,
    ].map(Number);
    if (Number.isFinite(meanReturn)) return { step, meanReturn, stdReturn };
    throw new SyntaxError("it has no evaluations");
  };
  return {
    last: agentOf(found.last),
    best: agentOf(found.best),
    steps: Number(found.steps),
    seconds: Number(found.seconds),
    commit: String(found.commit ?? ""),
  };
}

const BEST_STEP = '"bestStep"', RETURNS = "loop/bestEvaluation/returns";
/** Most episodes of an evaluation that are averaged. */
const MOST_EPISODES = 100_000;

/**
 * Reads the best evaluation of a run from its best checkpoint, of which the agent is
 * not read.
 */
export function readBestEvaluation(
  file: InsideFile,
): EvaluationPoint | undefined {
  return withInside(file, ({ descriptor }) => {
    const start = readPart(descriptor, { at: 0, length: 8 });
    const view = new DataView(start.buffer, start.byteOffset, start.length);
    const length = Number(view.getBigUint64(0, true));
    if (length > MOST_BYTES.header) {
      throw new SyntaxError("its header is too long");
    }
    const text = new TextDecoder()
      .decode(readPart(descriptor, { at: 8, length }));
    if (!text.includes(RETURNS)) return undefined;
    const header = JSON.parse(text);
    const state = String(header.__metadata__?.state);
    const step = Number(
      new RegExp(`${BEST_STEP}:(\\d+)`).exec(state)?.[1] ?? NaN,
    );
    const returns = isStateRecord(header[RETURNS]) ? header[RETURNS] : {};
    const [from, to] = returns.data_offsets as unknown as [number, number];
    const count = Math.min(MOST_EPISODES, Math.floor((to - from) / 8));
    if (returns.dtype !== "F64" || !(count > 0)) return undefined;
    const bytes = readPart(descriptor, {
      at: 8 + length + from,
      length: 8 * count,
    });
    const values = new Float64Array(bytes.slice().buffer);
    const value = values.reduce((sum, it) => sum + it, 0) / values.length;
    return Number.isFinite(step) && Number.isFinite(value)
      ? { step, value }
      : undefined;
  });
}
