import {
  type CurveSeries,
  readProgress,
  renderCurves,
} from "@bellman/training";
import { type ParsedOptions, valueOf } from "../args.ts";
import type { Command } from "../command.ts";
import { curveOf, groupNames } from "../curves.ts";
import type { CommandIo } from "../io.ts";
import { openRun } from "../runs.ts";
import { UsageError } from "../usage_error.ts";

async function seriesOf(
  dirs: readonly string[],
  key: string,
): Promise<CurveSeries[]> {
  const runs = await Promise.all(dirs.map(openRun));
  const names = groupNames(runs.map((run) => run.config));
  const groups = new Map<string, { x: number[]; y: number[] }[]>();
  runs.forEach(({ folder }, i) => {
    const rows = readProgress(folder.progressPath);
    const curve = curveOf(rows, { key, run: dirs[i] });
    groups.set(names[i], [...(groups.get(names[i]) ?? []), curve]);
  });
  return [...groups].map(([name, curves]) => ({ name, runs: curves }));
}

function asHtml(svg: string, title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<style>body { max-width: 60rem; margin: 2rem auto; } svg { width: 100%; }</style>
${svg}
</html>
`;
}

async function plotRuns(
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const dirs = options.positionals;
  if (dirs.length === 0) {
    throw new UsageError(
      "Cannot plot 0 runs: expected at least one run folder, as in 'plot runs/*'",
    );
  }
  const key = valueOf(options, "key") ?? "eprewmean";
  const out = valueOf(options, "out") ?? `${dirs[0]}/${key}.svg`;
  const extension = out.match(/\.(svg|html)$/)?.[1];
  if (extension === undefined) {
    throw new UsageError(
      `Cannot plot to ${out}: expected a file that ends in .svg or .html`,
    );
  }
  const svg = renderCurves(await seriesOf(dirs, key), {
    title: key,
    xLabel: "environment steps",
    yLabel: key,
  });
  await Deno.writeTextFile(out, extension === "svg" ? svg : asHtml(svg, key));
  io.out(`wrote ${out}\n`);
  return 0;
}

/** `plot`: draws a statistic of runs, with the spread over their seeds. */
export const plotCommand: Command = {
  name: "plot",
  usage: "RUN... [OPTIONS]",
  summary:
    "Draw the curves of one or more runs; seeds of one run are averaged.",
  options: [
    {
      name: "key",
      value: "STATISTIC",
      help: "What to draw, a column of progress.csv; eprewmean by default.",
    },
    {
      name: "out",
      value: "FILE",
      help: "An .svg or .html file; in the first run's folder by default.",
    },
  ],
  run: plotRuns,
};
