/** Doubles of every size through all that writes or draws the numbers of a run. */
import {
  CsvLogger,
  EpisodesCsv,
  readEpisodes,
  readProgress,
  TensorBoardLogger,
} from "@bellman/training";
import {
  renderCurves,
  renderIntervals,
  renderReport,
} from "@bellman/training/plots";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { summarizeEpisodes } from "../algorithms/training/evaluate.ts";
import {
  formatNumber,
  tableLines,
} from "../algorithms/training/logs/logger.ts";
import { parseSvg } from "../algorithms/training/testdata/parse_svg.ts";
import { count, number } from "../lab/board/page/format.ts";
import { trainProcess } from "./runs.ts";
import { preparePython, runPython } from "./testdata/python.ts";

/** Doubles of every size, NaN and infinities among them, and some with their next ones. */
const doubles: fc.Arbitrary<number[]> = fc.array(
  fc.oneof(
    fc.double(),
    fc.double({ min: -1e-300, max: 1e-300 }),
    fc.constantFrom(
      ...[0, -0, 5e-324, -20.1, 500, 0.3, 2 ** 53, 2 ** 128, 1e22],
      ...[Number.MAX_VALUE, -Number.MAX_VALUE],
    ),
  ).chain((it) =>
    fc.integer({ min: 0, max: 3 }).map((bits) => {
      const raw = new BigInt64Array(Float64Array.of(it).buffer);
      if (Number.isFinite(it)) raw[0] += BigInt(bits);
      return [it, new Float64Array(raw.buffer)[0]];
    })
  ),
  { minLength: 1, maxLength: 4 },
).map((all) => all.flat());

/** Checks that all places in the images of a page are numbers, of pixels. */
function checkImages(markup: string): void {
  assert(markup.includes("<svg"));
  const odd = markup.matchAll(
    /[\w-]+="[^"]*(NaN|Infinity|undefined|e\+)[^"]*"/g,
  );
  assertEquals([...odd].map(([it]) => it.slice(0, 200)), []);
  if (markup.startsWith("<svg")) parseSvg(markup);
}

Deno.test("logs hold any doubles, and read the same ones back", () => {
  const dir = Deno.makeTempDirSync();
  let run = 0;
  fc.assert(
    fc.property(doubles, (values) => {
      const folder = `${dir}/${run++}`;
      const progress = new CsvLogger(`${folder}/progress.csv`);
      const episodes = new EpisodesCsv(`${folder}/episodes.csv`);
      const events = new TensorBoardLogger(`${folder}/events`);
      events.writeHyperparameters({ value: values[0] });
      const length = 1;
      values.forEach((value, i) => {
        const row = { step: i, statistics: { "train/loss": value } };
        for (const logger of [progress, events]) logger.write(row);
        episodes.writeEpisode({
          ...{ step: i, env: 0, return: value, length, terminated: true },
          lifeReturns: [value, value],
        });
      });
      // What a resumed run keeps.
      for (const log of [progress, episodes]) log.truncate(values.length);
      for (const log of [progress, episodes, events]) log.close();
      // The sign of a zero is nothing that texts have.
      const plain = values.map((it) => it + 0);
      assertEquals(
        readProgress(`${folder}/progress.csv`)
          .map(({ statistics }) => statistics["train/loss"]),
        plain,
      );
      const read = readEpisodes(`${folder}/episodes.csv`);
      assertEquals(read.map((it) => it.return), plain);
      assertEquals(read.map((it) => it.lifeReturns?.[1]), plain);
    }),
    { numRuns: 25 },
  );
  Deno.removeSync(dir, { recursive: true });
});

Deno.test("texts of any double are short", () => {
  fc.assert(
    fc.property(doubles, (values) => {
      for (const value of values) {
        for (const text of [formatNumber, number, count]) {
          assert(text(value).length <= 24, text(value));
        }
      }
      const statistics = Object.fromEntries(
        values.map((it, i) => [`train/${i}`, it]),
      );
      for (const line of tableLines(statistics, { columns: 40, rows: 9 })) {
        assert(line.length <= 40);
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("curves, intervals and reports of any doubles are drawn", () => {
  fc.assert(
    fc.property(
      doubles,
      doubles,
      fc.constantFrom("ci", "std", "iqr", "range", "none"),
      (values, others, band) => {
        const run = (y: number[]) => ({ x: y.map((_, i) => i * 100), y });
        const value = others[0];
        const threshold = { value, label: "solved" };
        checkImages(renderCurves(
          [{ name: "a", runs: [run(values), run(others)] }],
          { band, threshold, yLabel: "return" },
        ));
        checkImages(renderIntervals([{
          title: "a",
          rows: [{ name: "b", value, interval: [values[0], values[1]] }],
          reference: values[1],
        }]));
        const rows = values.map((it, step) => ({
          step,
          statistics: {
            "time/steps": step,
            "rollout/return_mean": it,
            "train/loss": -it,
            "eval/return_mean": it,
            "eval/return_min": others[step] ?? it,
            "eval/return_max": it,
          },
        }));
        const episodes = values.map((it, step) => ({
          ...{ step, env: 0, return: it, length: 1, terminated: true },
        }));
        const lengths = values.map(() => 1);
        checkImages(renderReport({
          title: "a",
          progress: rows,
          episodes,
          evaluations: { last: summarizeEpisodes(values, lengths) },
          threshold,
        }));
      },
    ),
    { numRuns: 25 },
  );
});

const python = await preparePython();

Deno.test({
  name: "TensorBoard reads doubles of every size as float32 has them [Python]",
  ignore: python.missing !== undefined,
  fn: async () => {
    const dir = Deno.makeTempDirSync();
    const largest = (2 - 2 ** -23) * 2 ** 127;
    const values = fc.sample(doubles, { numRuns: 60, seed: 1 }).flat();
    const logger = new TensorBoardLogger(dir);
    values.forEach((loss, step) =>
      logger.write({ step, statistics: { loss } })
    );
    logger.close();
    const read = await runPython(
      python,
      `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
print(json.dumps([[e.step, e.value] for e in events.Scalars("loss")]))
`,
      dir,
    );
    const expected = values.flatMap((value, step) =>
      Number.isFinite(value)
        ? [[
          step,
          Math.fround(Math.max(-largest, Math.min(value, largest))) + 0,
        ]]
        : []
    );
    assert(expected.some(([, it]) => it === largest));
    assertEquals(
      (read as number[][]).map(([step, it]) => [step, it + 0]),
      expected,
    );
    Deno.removeSync(dir, { recursive: true });
  },
});

/** Trains on an environment of the edges; returns the folder and what was told. */
async function trained(env: string, ...more: string[]) {
  const run = `${Deno.makeTempDirSync()}/run`;
  const module = new URL("./testdata/edges.ts", import.meta.url).pathname;
  const { code, stderr } = await trainProcess([
    ...[`--env=${env}`, `--set=envModules=[${module}]`, "--quiet"],
    ...["--preset=none", "--backend=cpu", `--out=${run}`, ...more],
  ]).output();
  const told = new TextDecoder().decode(stderr);
  assertEquals(code, 0, told);
  return { run, told };
}

Deno.test("a run with numbers at the edges of their types ends, with its report", async () => {
  const { run } = await trained(
    "Edges-v0",
    "--steps=400",
    "--set=infoStatistics=[value, tiny]",
  );
  checkImages(Deno.readTextFileSync(`${run}/report.html`));
  Deno.removeSync(run, { recursive: true });
});

Deno.test("a run whose agent no file can hold ends, and says why it has none", async () => {
  const { run, told } = await trained(
    "Stamps-v0",
    ...["--steps=4000", "--set=normalizeObservation=true"],
    ...["--set=evaluationInterval=0", "--set=evaluationEpisodes=1"],
  );
  assertStringIncludes(
    told,
    "Cannot export a policy for observations of float64",
  );
  const names = [...Deno.readDirSync(run)].map(({ name }) => name);
  assert(names.includes("report.html") && !names.includes("policy.onnx"));
  Deno.removeSync(run, { recursive: true });
});
