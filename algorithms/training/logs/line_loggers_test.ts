import { assert, assertEquals, assertThrows } from "@std/assert";
import { CsvLogger, EpisodesCsv } from "./line_loggers.ts";
import type { Logger } from "./logger.ts";
import { readEpisodes, readProgress } from "./read_logs.ts";

async function inFile(body: (path: string) => void): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    // The folder below does not exist yet.
    body(`${dir}/run/log`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const read = (path: string) => Deno.readTextFileSync(path);
const row = (step: number, statistics: Record<string, number> = {}) => ({
  step,
  statistics,
});

Deno.test("rows follow the columns of the first, wherever it puts the step", () =>
  inFile((path) => {
    const logger = new CsvLogger(path);
    logger.write(row(5, { updates: 1, "time/steps": 5, loss: 0.1 }));
    logger.write(row(10, { loss: NaN, updates: 2 }));
    assertEquals(
      read(path),
      "updates,time/steps,loss\n1,5,0.1\n2,10,NaN\n",
    );
    logger.close();
  }));

Deno.test("new columns go to the end, old rows leave them empty", () =>
  inFile((path) => {
    const logger = new CsvLogger(path);
    logger.write(row(5, { loss: 1 }));
    logger.write(row(10, { 'eval,"mean"': -0.5 }));
    logger.close();
    assertEquals(
      read(path),
      'time/steps,loss,"eval,""mean"""\n5,1,\n10,,-0.5\n',
    );
    assertEquals(readProgress(path), [
      row(5, { "time/steps": 5, loss: 1 }),
      row(10, { "time/steps": 10, 'eval,"mean"': -0.5 }),
    ]);
  }));

Deno.test("progress without the column of steps is refused", () =>
  inFile((path) => {
    new CsvLogger(path).close();
    Deno.writeTextFileSync(path, "frames,loss\n5,1\n");
    assertThrows(
      () => readProgress(path),
      SyntaxError,
      `Cannot read progress from ${path}: it has no column time/steps`,
    );
  }));

const episode = (step: number) => ({
  step,
  env: 1,
  return: step / 3,
  length: 7,
  terminated: step % 2 === 1,
});

Deno.test("progress of nothing is no rows", () =>
  inFile((path) => {
    new CsvLogger(path).close();
    assertEquals(readProgress(path), []);
  }));

Deno.test("episodes are read as they were written", () =>
  inFile((path) => {
    const logger = new EpisodesCsv(path);
    for (const step of [1, 2, 3]) logger.writeEpisode(episode(step));
    logger.write();
    logger.close();
    assertEquals(readEpisodes(path), [1, 2, 3].map(episode));
    Deno.writeTextFileSync(path, "a,b\n");
    assertThrows(() => readEpisodes(path), SyntaxError, "its columns are a,b");
  }));

Deno.test("the returns of lives are kept", () =>
  inFile((path) => {
    const game = { ...episode(4), lifeReturns: [1, -0.5, 3] };
    const logger = new EpisodesCsv(path);
    logger.writeEpisode(game);
    logger.writeEpisode(episode(5));
    logger.truncate(5);
    logger.close();
    assertEquals(readEpisodes(path), [game, episode(5)]);
  }));

const INFO = { sum: 6, mean: 1.5, last: -0.25 };

Deno.test("entries of info have columns of their own, which stay after a resume", () =>
  inFile((path) => {
    const infoStatistics = {
      lost_sales: INFO,
      "reward ctrl": { ...INFO, sum: 1e-9 },
    };
    const names = Object.keys(infoStatistics);
    const logger = new EpisodesCsv(path, { infoStatistics: names });
    const told = { ...episode(3), infoStatistics };
    const lost = episode(4), game = { ...told, lifeReturns: [1, 2], step: 5 };
    for (const one of [told, lost, game]) logger.writeEpisode(one);
    const saved = logger.save();
    const wanted = read(path);
    assertEquals(
      wanted.split("\n").slice(0, 3).join("\n"),
      "step,env,return,length,terminated,life_returns," +
        "lost_sales_sum,lost_sales_mean,lost_sales_last," +
        "reward ctrl_sum,reward ctrl_mean,reward ctrl_last\n" +
        "3,1,1,7,1,,6,1.5,-0.25,1e-9,1.5,-0.25\n4,1,1.3333333333333333,7,0,,,,,,,",
    );
    assertEquals(readEpisodes(path), [told, lost, game]);
    logger.writeEpisode({ ...told, step: 9 });
    logger.close();
    // Columns are those of the file, whatever is recorded now.
    const resumed = new EpisodesCsv(path, { infoStatistics: ["lost_sales"] });
    assertEquals(resumed.truncate(5, saved), undefined);
    assertEquals(read(path), wanted);
    resumed.writeEpisode({
      ...episode(6),
      infoStatistics: { lost_sales: INFO },
    });
    resumed.close();
    assertEquals(read(path).split("\n").at(-2), "6,1,2,7,0,,6,1.5,-0.25,,,");
    // Damaged rows go, the others stay.
    Deno.writeTextFileSync(path, wanted.replace("1e-9", "1e-x"));
    const mended = new EpisodesCsv(path, { infoStatistics: names });
    assertEquals(
      mended.truncate(5, saved),
      `${path} is damaged: up to step 5, 2 of its 3 rows can be read and are kept`,
    );
    mended.close();
    assertEquals(readEpisodes(path), [lost, game]);
  }));

const loggers: [string, (path: string) => Logger][] = [
  ["CsvLogger", (path) => new CsvLogger(path)],
  ["EpisodesCsv", (path) => new EpisodesCsv(path)],
];

for (const [name, open] of loggers) {
  const log = (logger: Logger, steps: number[]) => {
    for (const step of steps) {
      logger.write(row(step, { loss: step / 7, entropy: NaN }));
      logger.writeEpisode?.(episode(step));
    }
  };

  Deno.test(`${name}: a file cut short and truncated reads as an uninterrupted one`, () =>
    inFile((path) => {
      const whole = open(path);
      log(whole, [4, 8, 12, 16]);
      whole.close();
      const wanted = read(path);

      for (let cut = wanted.length; cut > 76; cut -= 7) {
        // A process was killed while it wrote, after a checkpoint at step 4.
        Deno.writeTextFileSync(path, wanted.slice(0, cut));
        const resumed = open(path);
        resumed.truncate!(4);
        log(resumed, [8, 12, 16]);
        resumed.close();
        assertEquals(read(path), wanted, `cut at ${cut}`);
      }
    }));

  Deno.test(`${name}: a part of a line is not continued`, () =>
    inFile((path) => {
      const first = open(path);
      log(first, [4]);
      first.close();
      const wanted = read(path);
      Deno.writeTextFileSync(path, wanted + "8,0.12");
      open(path).close();
      assertEquals(read(path), wanted);
    }));

  Deno.test(`${name}: resumed, the file is what it was at the checkpoint`, () =>
    inFile((path) => {
      for (const steps of [[], [4], [4, 4]]) {
        const first = open(path);
        log(first, steps);
        const [saved, wanted] = [first.save!(), read(path)];
        // The same step again, and columns that are new.
        first.write(row(4, { loss: 1, eval: 2 }));
        log(first, [4, 8]);
        first.close();
        const resumed = open(path);
        assertEquals(resumed.truncate!(4, saved), undefined);
        assertEquals(read(path), wanted);
        assertEquals(resumed.save!(), saved);
        log(resumed, [12]);
        resumed.close();
        Deno.removeSync(path);
      }
    }));

  const damages: [string, (path: string) => void, RegExp][] = [
    ["deleted", (path) => Deno.removeSync(path), / is gone or empty: /],
    ["emptied", (path) => Deno.truncateSync(path), / is gone or empty: /],
    [
      "cut",
      (path) => Deno.truncateSync(path, read(path).indexOf("16") - 3),
      / is damaged: up to step 16, [23] of its 4 rows can be read and are kept$/,
    ],
    [
      "garbage",
      (path) => Deno.writeTextFileSync(path, "\0\n\n,,,,,\n[{}]\nnull\n"),
      / is damaged: up to step 16, 0 of its 4 rows can be read and are kept$/,
    ],
    [
      "one digit",
      (path) => Deno.writeTextFileSync(path, read(path).replace("12,", "13,")),
      / is damaged: up to step 16, 4 of its 4 rows can be read and are kept$/,
    ],
    [
      "without its first line",
      (path) => Deno.writeTextFileSync(path, read(path).replace(/^.*\n/, "")),
      / is damaged: up to step 16, [34] of its 4 rows can be read and are kept$/,
    ],
  ];
  for (const [damage, apply, wanted] of damages) {
    Deno.test(`${name}: ${damage}, it is told and goes on with what is there`, () =>
      inFile((path) => {
        const first = open(path);
        log(first, [4, 8, 12, 16]);
        const saved = first.save!();
        first.close();
        apply(path);
        const resumed = open(path);
        const warning = String(resumed.truncate!(16, saved));
        assert(warning.startsWith(path) && wanted.test(warning), warning);
        log(resumed, [20]);
        const after = resumed.save!();
        resumed.close();
        const read = name === "EpisodesCsv" ? readEpisodes : readProgress;
        const steps = read(path).map(({ step }) => step);
        assertEquals(steps.at(-1), 20);
        assertEquals(steps.every(Number.isSafeInteger), true);
        // It was said once; the next resume finds what this one left.
        const again = open(path);
        assertEquals(again.truncate!(20, after), undefined);
        again.close();
      }));
  }

  Deno.test(`${name}: removed while it is written, it comes back or ends quietly`, () =>
    inFile((path) => {
      const logger = open(path);
      log(logger, [4]);
      Deno.removeSync(path);
      logger.write(row(8, { other: 1 }));
      log(logger, [12]);
      logger.flush!();
      logger.close();
    }));

  Deno.test(`${name}: closing twice is allowed, writing after is not`, () =>
    inFile((path) => {
      const logger = open(path);
      log(logger, [4]);
      logger.flush!();
      logger.close();
      logger.close();
      assertThrows(
        () => log(logger, [8]),
        TypeError,
        `Cannot write to ${path}: it is closed`,
      );
    }));
}

Deno.test("a line that is being written is not read", () =>
  inFile((path) => {
    const logger = new CsvLogger(path);
    logger.write(row(5, { loss: 1 }));
    logger.close();
    Deno.writeTextFileSync(path, read(path) + "10,0.");
    assertEquals(readProgress(path).length, 1);
  }));
