import { type RunRecord, writeRecord } from "../record.ts";
import { stringify } from "@std/yaml";

/** What the folder of a run holds; left out where it is undefined. */
export interface RunParts {
  config?: Record<string, unknown>;
  /** Text of `progress.csv`. */
  log?: string;
  /** Members of its record; of a run of a version that wrote none it is left out. */
  record?: Partial<RunRecord>;
  /** Reason that the report names. */
  stopped?: string;
  /** Other files by name. */
  files?: Record<string, string | Uint8Array>;
}

/** Columns that {@linkcode rowsOf} writes. */
export const HEADER =
  "time/steps,time/episodes,time/seconds,time/steps_per_second,rollout/return_mean,eval/return_mean";

/** Makes rows of a log: every tenth is one of an evaluation. */
export function rowsOf(from: number, to: number): string {
  let text = "";
  for (let i = from; i < to; i++) {
    const step = 10 * (i + 1);
    text += i % 10 === 9
      ? `${step},,,,,${i / 2}\n`
      : `${step},${i},${(i + 1) / 8},80,${i},\n`;
  }
  return text;
}

/** Makes the folder of a run. */
export function makeRun(
  dir: string,
  { config = {}, log, record, stopped, files = {} }: RunParts = {},
): void {
  Deno.mkdirSync(`${dir}/checkpoints`, { recursive: true });
  const all: Record<string, string | Uint8Array | undefined> = {
    "config.yaml": stringify({
      algorithm: "a2c",
      env: "CartPole-v1",
      seed: 0,
      totalTimesteps: 1000,
      ...config,
    }),
    "progress.csv": log,
    "report.html": stopped &&
      `<dl><div><dt>Stopped</dt><dd>${stopped}</dd></div></dl>`,
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    if (content === undefined) continue;
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    Deno.writeFileSync(`${dir}/${name}`, bytes);
  }
  if (record === undefined) return;
  const now = new Date().toISOString();
  writeRecord({ recordPath: `${dir}/run.json` }, {
    ...{ state: "running", since: now, begun: now, resumes: 0 },
    ...{ step: 0, updates: 0, episodes: 0, seconds: 0, engine: "eager" },
    ...{ versions: {}, settings: {}, checkpoints: [] },
    evaluations: { during: [] },
    ...record,
  });
}

/** Makes a pipe, which nobody writes to. */
export function makePipe(path: string): void {
  const { success } = new Deno.Command("mkfifo", { args: [path] }).outputSync();
  if (!success) throw new Error(`Cannot make the pipe ${path}`);
}
