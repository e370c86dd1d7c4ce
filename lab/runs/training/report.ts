import { defaultsOf } from "@bellman/agent";
import type { RunFolder } from "../folder/run_folder.ts";
import {
  readEpisodes,
  readProgress,
  type TrainResult,
} from "@bellman/training";
import type {
  CurveThreshold,
  ReportedEvaluation,
  ReportedSetting,
} from "@bellman/training/plots";
import { findAlgorithm } from "../settings/algorithms.ts";
import { fullSchema, type ResolvedConfig } from "../settings/resolve.ts";
import { writeYaml } from "../settings/yaml.ts";
import packageConfig from "../deno.json" with { type: "json" };
import { readVideos } from "./recorder.ts";
import { fileError, writeWhole } from "../program/errors.ts";
import { round } from "./evaluation.ts";
import type { RunSetup } from "./run_setup.ts";
import { flattenedText } from "./scaled_environments.ts";

/** Run of a report. */
interface ReportedRun {
  setup: RunSetup;
  folder: RunFolder;
  /** Receives lines for the user. */
  onNotice?: (line: string) => void;
  /** Command that started the run. */
  command?: string;
}

/** Log rows of a report's curves: more are not visible. */
export const MAX_ROWS = 10_000;

/** Settings that identify the run, or that a run sets itself. */
const NO_SETTINGS: ReadonlySet<string> = new Set([
  "algorithm",
  "env",
  "seed",
  "engine",
  "backend",
  "plugin",
]);

/**
 * Lists the settings of a run that differ from its algorithm's defaults.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { changedSettings } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const config = resolveConfig("a2c", { preset: "none", entries: [["gamma", 0.9]] });
 * assertEquals(changedSettings(config).map(({ key }) => key), ["gamma"]);
 * ```
 */
export function changedSettings(config: ResolvedConfig): ReportedSetting[] {
  const algorithm = findAlgorithm(config.algorithm)!;
  const defaults: Record<string, unknown> = {
    ...defaultsOf(fullSchema(algorithm)),
    ...algorithm.meta.runDefaults,
  };
  const text = (value: unknown) => JSON.stringify(value ?? null);
  return Object.keys(config)
    .filter((key) => !NO_SETTINGS.has(key))
    .map((key) => ({ key, value: config[key], default: defaults[key] ?? null }))
    .filter((it) => text(it.value) !== text(it.default));
}

/** Makes the threshold line of an environment's reward threshold. */
export function solvedAt(value?: number): CurveThreshold | undefined {
  return value === undefined ? undefined : { value, label: `solved: ${value}` };
}

/**
 * Writes a run's `report.html`: curves, videos, configuration, final evaluations. A
 * missing or unreadable log is reported and left out.
 */
export async function writeReport(
  { setup, folder, onNotice, command }: ReportedRun,
  { result, evaluations }: {
    result: TrainResult;
    evaluations?: Readonly<Record<string, ReportedEvaluation>>;
  },
): Promise<void> {
  const { MAX_DOTS, renderReport } = await import("@bellman/training/plots");
  const { config, environments } = setup;
  const flattened = flattenedText(environments.spaces.observationSpace);
  const rowsOf = <Row extends { step: number }>(
    read: (path: string) => Row[],
    path: string,
  ): Row[] => {
    try {
      return read(path).filter(({ step }) => Number.isFinite(step));
    } catch (error) {
      const why = (fileError(error) ?? error as Error).message;
      onNotice?.(`${why}; the report is without it`);
      return [];
    }
  };
  const html = renderReport({
    title: `${config.algorithm} on ${config.env}, seed ${config.seed}`,
    progress: rowsOf(
      (path) => readProgress(path, { maxRows: MAX_ROWS }),
      folder.progressPath,
    ),
    episodes: rowsOf(
      (path) => readEpisodes(path, { maxEpisodes: MAX_DOTS }),
      folder.episodesPath,
    ),
    configText: writeYaml(config),
    settings: changedSettings(config),
    origin: [
      `Bellman ${packageConfig.version}`,
      `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`,
      setup.engine,
    ].join(" · "),
    command,
    evaluations,
    threshold: solvedAt(environments.training.spec?.rewardThreshold),
    videos: readVideos(folder),
    details: {
      "Stopped": result.stopReason,
      "Environment steps": result.step.toLocaleString("en-US"),
      "Updates": result.updates.toLocaleString("en-US"),
      "Episodes": result.episodes.toLocaleString("en-US"),
      ...(result.episodes > 0 && {
        [`Mean return of the last ${Math.min(100, result.episodes)} episodes`]:
          round(result.meanReturn),
      }),
      "Training time": `${round(result.elapsedSeconds)} s`,
      ...flattened && { "Flattened observations": flattened },
    },
  });
  writeWhole(folder.reportPath, html);
}
