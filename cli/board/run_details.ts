import { changedSettings } from "../../lab/runs/training/report.ts";
import { findAlgorithm } from "../../lab/runs/settings/algorithms.ts";
import type { ResolvedConfig } from "../../lab/runs/settings/resolve.ts";
import { shellWord } from "../../lab/runs/program/process.ts";
import { createHash } from "node:crypto";
import { type Entry, lookAt, namesIn } from "./inside.ts";
import type {
  ChangedSetting,
  RunCheckpoint,
  RunDetails,
  RunVideo,
} from "./messages.ts";
import { dirOf, fileIn, givenPath, type RunEntry } from "./run_entry.ts";
import { readCount } from "./run_files.ts";

/** Folders of a run. */
const FOLDERS = ["checkpoints", "videos", "plots"];

const CHECKPOINT = /^(?:best|step_(\d{1,15}))\.safetensors$/;
const VIDEO = /^(?:best|step-(\d{1,15}))\.gif$/;
/** Files that `play` writes. */
const PLAYED = /^play[\w.-]{0,50}\.(gif|mp4)$/;

/** A video of a run, and its path in the run's folder. */
export type VideoFile = RunVideo & { path: string };

/** Lists the videos of a run: those that it recorded, the best agent first, and those of `play`. */
export function videosOf(run: RunEntry): VideoFile[] {
  const dir = dirOf(run.place);
  const video = (entry: Entry, path: string, title: string): VideoFile => ({
    id: createHash("sha256").update(path).digest("base64url").slice(0, 10),
    title,
    bytes: entry.size,
    changed: entry.changed,
    path,
  });
  const recorded = filesIn(dir, "videos").flatMap((entry) => {
    const found = VIDEO.exec(entry.name);
    if (found === null) return [];
    const title = found[1] === undefined
      ? "Best agent"
      : `Agent after ${Number(found[1]).toLocaleString("en-US")} steps`;
    return [video(entry, `videos/${entry.name}`, title)];
  });
  const played = filesIn(dir).filter(({ name }) => PLAYED.test(name))
    .map((entry) => video(entry, entry.name, entry.name));
  return [...recorded, ...played];
}

/** Lists the files of a run's folder, or of a folder in it, which is no link. */
function filesIn(dir: string, folder = "."): Entry[] {
  if (lookAt(dir, folder)?.kind !== "a folder") return [];
  const inner = `${dir}/${folder}`;
  return [...namesIn(inner).names].sort().flatMap((name) => {
    const entry = lookAt(inner, name);
    return entry === undefined || entry.kind !== undefined ? [] : [entry];
  });
}

/** Reads everything about a run but its curves. */
export function detailsOf(run: RunEntry): RunDetails {
  const { summary, place, config, evaluated } = run;
  const dir = dirOf(place);
  const videos = videosOf(run).map(({ path: _, ...it }) => it);
  return {
    summary,
    configText: config?.text ?? "",
    changedSettings: changesOf(config?.settings),
    checkpoints: filesIn(dir, "checkpoints").flatMap(checkpointOf),
    videos,
    hasReport: run.has("report.html"),
    evaluations: evaluated === undefined
      ? null
      : { last: evaluated.last, best: evaluated.best },
    resumes: resumesOf(run),
    disk: diskOf(dir),
    commands: commandsOf(run),
  };
}

function checkpointOf({ name, size }: Entry): RunCheckpoint[] {
  const found = CHECKPOINT.exec(name);
  if (found === null) return [];
  return [{ step: found[1] === undefined ? null : +found[1], bytes: size }];
}

/** Lists what differs from the defaults, of an algorithm of this library. */
function changesOf(
  settings: Readonly<Record<string, unknown>> | undefined,
): ChangedSetting[] | null {
  const algorithm = settings?.algorithm;
  if (
    typeof algorithm !== "string" || findAlgorithm(algorithm) === undefined
  ) return null;
  return changedSettings(settings as ResolvedConfig) as ChangedSetting[];
}

function resumesOf(run: RunEntry): number {
  if (run.record !== undefined) return run.record.resumes;
  if (!run.has("resumes.txt")) return 0;
  try {
    return readCount(fileIn(run.place, "resumes.txt"));
  } catch {
    return 0;
  }
}

function diskOf(dir: string): Record<string, number> {
  const disk: Record<string, number> = Object.create(null);
  for (const { name, size } of filesIn(dir)) {
    const part = /^[\w-]+\.(csv|html|yaml|onnx|rows)$/.test(name)
      ? name
      : "others";
    disk[part] = (disk[part] ?? 0) + size;
  }
  for (const folder of FOLDERS) {
    const sum = filesIn(dir, folder)
      .reduce((sum, { size }) => sum + size, 0);
    if (sum > 0) disk[folder] = sum;
  }
  return disk;
}

/** Writes the command lines that a person may want next. */
function commandsOf(
  { place, summary, isShared }: RunEntry,
): Record<string, string> {
  const given = givenPath(place);
  // What a terminal would take for commands of its own.
  if (/[\p{Cc}\p{Cf}]/u.test(given)) return {};
  const path = shellWord(given.startsWith("-") ? `./${given}` : given);
  const { state, totalSteps } = summary;
  const task = (words: string) => `deno task ${words}`;
  return {
    ...state !== "running" && state !== "ended" && state !== "stopped" &&
      { resume: task(`train --resume ${path}`) },
    ...state === "ended" && !isShared && totalSteps !== null &&
      {
        prolong: task(`train --resume ${path} --steps ${2 * totalSteps}`),
      },
    evaluate: task(`eval ${path}`),
    play: task(`play ${path}`),
    export: task(`export ${path}`),
    plot: task(`plot ${path}`),
  };
}
