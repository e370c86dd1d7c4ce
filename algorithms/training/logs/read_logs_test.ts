import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../../../tests/testdata/run_deno.ts";
import { bytesRead } from "../testdata/bytes_read.ts";
import { csvParseRows } from "d3-dsv";
import { mean } from "../episodes.ts";
import { CsvLogger, EpisodesCsv } from "./line_loggers.ts";
import type { LoggedEpisode, LogRow } from "./logger.ts";
import { episodeSteps, readEpisodes, readProgress } from "./read_logs.ts";

async function inFolder(body: (dir: string) => unknown): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await body(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Rows as training logs them: evaluations in between, a number that is none. */
const ROWS: LogRow[] = Array.from({ length: 1000 }, (_, i) => {
  const step = 40 * (i + 1);
  if (i % 50 === 49) {
    return { step, statistics: { "time/steps": step, "eval/return_mean": i } };
  }
  const statistics = {
    "time/steps": step,
    "rollout/return_mean": i < 7 ? NaN : 20 + Math.sqrt(i) / 3,
    "train/loss": Math.sin(i) / 7,
  };
  return { step, statistics };
});

const EPISODES: LoggedEpisode[] = Array.from({ length: 1000 }, (_, i) => ({
  step: 8 * i + 8,
  env: i % 8,
  return: i / 3,
  length: i + 1,
  terminated: i % 2 === 0,
  ...i % 10 === 0 && { lifeReturns: [i, -i / 7] },
}));

function write(dir: string): { progress: string; episodes: string } {
  const progress = `${dir}/progress.csv`, episodes = `${dir}/episodes.csv`;
  const rows = new CsvLogger(progress), ended = new EpisodesCsv(episodes);
  ROWS.forEach((row) => rows.write(row));
  EPISODES.forEach((episode) => ended.writeEpisode(episode));
  rows.close();
  ended.close();
  return { progress, episodes };
}

Deno.test("logs that are no longer than asked for are read bit for bit", () =>
  inFolder((dir) => {
    const { progress, episodes } = write(dir);
    for (const most of [1000, 1001, 1e6, Infinity]) {
      assertEquals(readProgress(progress, { maxRows: most }), ROWS);
      assertEquals(readEpisodes(episodes, { maxEpisodes: most }), EPISODES);
    }
    assertEquals([...episodeSteps(episodes)], EPISODES.map(({ step }) => step));
    // As d3 reads the whole text.
    const [columns, ...cells] = csvParseRows(Deno.readTextFileSync(progress));
    const losses = cells.map((row) => row[columns.indexOf("train/loss")]);
    assertEquals(
      readProgress(progress).map((it) => it.statistics["train/loss"]),
      losses.map((it) => it === "" ? undefined : Number(it)),
    );
  }));

Deno.test("rows of a longer log are the means of those that follow each other", () =>
  inFolder((dir) => {
    const { progress } = write(dir);
    for (const maxRows of [1, 3, 7, 64, 333, 999]) {
      const means = readProgress(progress, { maxRows });
      assertEquals(means.length, maxRows);
      means.forEach((found, window) => {
        const [from, to] = [window, window + 1]
          .map((it) => Math.ceil(it * ROWS.length / maxRows - 1e-9));
        const rows = ROWS.slice(from, to);
        assertEquals(found.step, mean(rows.map(({ step }) => step)));
        for (const name of Object.keys(found.statistics)) {
          const values = rows.map(({ statistics }) => statistics[name])
            .filter(Number.isFinite);
          const wanted = rows.length === 1
            ? rows[0].statistics[name]
            : mean(values);
          assertEquals(found.statistics[name], wanted, `${name} of ${window}`);
        }
      });
      const evaluated = means.filter((it) =>
        "eval/return_mean" in it.statistics
      );
      assertEquals(evaluated.length, Math.min(20, maxRows));
    }
  }));

Deno.test("of more episodes, every second one, every third one and so on", () =>
  inFolder((dir) => {
    const { episodes } = write(dir);
    for (const maxEpisodes of [1, 3, 300, 500, 999]) {
      const every = Math.ceil(EPISODES.length / maxEpisodes);
      assertEquals(
        readEpisodes(episodes, { maxEpisodes }),
        EPISODES.filter((_, i) => i % every === 0),
      );
    }
  }));

Deno.test("lines longer than what is read at once, and umlauts between two pieces", () =>
  inFolder((dir) => {
    const path = `${dir}/progress.csv`;
    const logger = new CsvLogger(path);
    const long = "train/" + "ä".repeat(200_000);
    for (let step = 1; step <= 9; step++) {
      logger.write({ step, statistics: { "time/steps": step, [long]: step } });
    }
    const saved = logger.save();
    logger.write({ step: 10, statistics: { other: 1 } });
    logger.close();
    assertEquals(readProgress(path).map(({ step }) => step), [
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ]);
    assertEquals(readProgress(path)[8].statistics[long], 9);
    const resumed = new CsvLogger(path);
    assertEquals(resumed.truncate(9, saved), undefined);
    assertEquals(resumed.save(), saved);
    resumed.close();
    assertEquals(readProgress(path).length, 9);
  }));

const EPISODES_IN_FILE = 1_000_000;
/** Megabytes of the heap: a million episodes in memory take three times as many. */
const HEAP = 150;

Deno.test("a million episodes are read, resumed and cut in a small heap", () =>
  inFolder(async (dir) => {
    const path = `${dir}/episodes.csv`;
    new EpisodesCsv(path).close();
    const file = Deno.openSync(path, { append: true });
    const lines = 10_000;
    for (let at = 0; at < EPISODES_IN_FILE; at += lines) {
      const text = Array.from(
        { length: lines },
        (_, i) => `${at + i + 1},0,${i},${i},1,\n`,
      );
      file.writeSync(new TextEncoder().encode(text.join("")));
    }
    file.close();
    const script = `
      import { EpisodesCsv } from ${link("./line_loggers.ts")};
      import { episodeSteps, readEpisodes } from ${link("./read_logs.ts")};
      const [path] = Deno.args;
      const kept = readEpisodes(path, { maxEpisodes: 1500 });
      let count = 0;
      for (const step of episodeSteps(path)) count += Number(step > 0);
      const logger = new EpisodesCsv(path);
      const saved = logger.save();
      logger.writeEpisode({ ...kept[0], step: ${EPISODES_IN_FILE + 1} });
      const resumed = logger.truncate(${EPISODES_IN_FILE}, saved);
      const damaged = logger.truncate(100_000, { ...saved, sha256: "" });
      logger.close();
      console.log(JSON.stringify({
        kept: kept.length, last: kept.at(-1).step, count, resumed, damaged,
      }));
    `;
    const main = `${dir}/main.ts`;
    Deno.writeTextFileSync(main, script);
    const config = new URL("../../../deno.json", import.meta.url).pathname;
    const { code, out, err } = await runDeno([
      ...["-A", `--config=${config}`],
      `--v8-flags=--max-old-space-size=${HEAP}`,
      ...[main, path],
    ]);
    assert(code === 0, err.slice(0, 2000));
    assertEquals(JSON.parse(out), {
      kept: 1500,
      last: EPISODES_IN_FILE - 166,
      count: EPISODES_IN_FILE,
      damaged:
        `${path} is damaged: up to step 100000, 100000 of its 1000000 rows can be read and are kept`,
    });
  }));

function link(module: string): string {
  return JSON.stringify(import.meta.resolve(module));
}

Deno.test({
  name: "a file that is not thinned is read once",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const path = await Deno.makeTempDir() + "/progress.csv";
    const rows = Array.from({ length: 100_000 }, (_, i) => `${i},${i / 7}\n`);
    await Deno.writeTextFile(path, `time/steps,train/loss\n${rows.join("")}`);
    const { size } = await Deno.stat(path);
    const before = bytesRead();
    assertEquals(readProgress(path).length, 100_000);
    const read = bytesRead() - before;
    assert(read < 1.5 * size, `${read} of ${size} bytes`);
    await Deno.remove(path);
  },
});
