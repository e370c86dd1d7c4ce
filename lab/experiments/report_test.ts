import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { chromiumTest, inPage } from "../../tests/testdata/run_page.ts";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { parseSvg } from "../../algorithms/training/testdata/parse_svg.ts";
import type { CellResult } from "./cells.ts";
import {
  type ExperimentReport,
  reportOf,
  tablesOf,
  writeExperimentReport,
} from "./report.ts";
import type { TableValue } from "./tables.ts";
import { madeUpExperiment } from "./testdata/experiment.ts";

const PLAN = `
name: classic
environments: [CartPole-v1, Pendulum-v1]
seeds: 5
variants:
  a2c: {}
  ppo: {}
`;

const SCORES = `scores:
  CartPole-v1: { low: 0, high: 200 }
  Pendulum-v1: { low: -100, high: 300 }
compare: [[ppo, a2c]]
`;

/** Changes some cells of an experiment, and reports it. */
async function reported(
  dir: string,
  planText: string,
  change: (cell: CellResult) => Partial<CellResult> = () => ({}),
): Promise<ExperimentReport> {
  const made = madeUpExperiment(dir, planText);
  const cells = made.cells.map((cell) => ({ ...cell, ...change(cell) }));
  const configs = new Map();
  return await reportOf({ ...made, cells }, { configs, onNotice: assert });
}

const none = { last: null, best: null };

/** A table's rows as records. */
function rowsOf(
  report: ExperimentReport,
  name: string,
): Record<string, TableValue>[] {
  const { columns, rows } = tablesOf(report).find((it) => it.name === name)!;
  return rows.map((row) =>
    Object.fromEntries(row.map((value, i) => [columns[i].name, value]))
  );
}

Deno.test("tables have the numbers of the runs, last and best apart", () =>
  withFolder(async (dir) => {
    // Returns 0, 10, 20, 30, 40 of the seeds; the best are 5 more.
    const report = await reported(dir, PLAN + SCORES, ({ seed }) => ({
      last: { step: 10, meanReturn: 10 * seed, stdReturn: 0 },
      best: { step: 5, meanReturn: 10 * seed + 5, stdReturn: 0 },
    }));
    const [a2c] = rowsOf(report, "last-CartPole-v1");
    assertEquals([a2c.mean, a2c.IQM, a2c.seeds, a2c.note], [20, 20, "5", ""]);
    const [low, high] = a2c.interval as [number, number];
    assert(low > 0 && low < 20 && high > 20 && high < 40);
    assertEquals(rowsOf(report, "best-CartPole-v1")[0].mean, 25);
    const mean = rowsOf(report, "last-aggregates")
      .find((it) => it.variant === "a2c" && it.aggregate === "mean")!;
    // 20 / 200 on CartPole-v1, 120 / 400 on Pendulum-v1.
    assert(Math.abs(mean.value as number - 0.2) < 1e-12);
    const [improvement] = rowsOf(report, "last-improvement");
    assertEquals(improvement["P(X > Y)"], 0.5);
    assertEquals([improvement.X, improvement.Y], ["ppo", "a2c"]);
  }));

Deno.test("a seed that lacks is named, and left out where it lacks", () =>
  withFolder(async (dir) => {
    const report = await reported(
      dir,
      PLAN + SCORES,
      ({ variant, environment, seed }) => {
        if (variant !== "a2c" || environment !== "CartPole-v1") return {};
        if (seed === 3) return { ...none, state: "failed", message: "NaN <b>" };
        if (seed === 4) return { ...none, state: "missing" };
        return {};
      },
    );
    const [a2c, ppo] = rowsOf(report, "last-CartPole-v1");
    assertEquals([a2c.seeds, ppo.seeds], ["3 of 5", "5"]);
    assertEquals(
      a2c.note,
      "without seed 3: failed, 4: missing; few runs: too narrow",
    );
    assertEquals(ppo.note, "");
    assertEquals(rowsOf(report, "last-Pendulum-v1")[0].seeds, "5");
    const [iqm] = rowsOf(report, "last-aggregates");
    assertEquals([iqm.variant, iqm.seeds], ["a2c", "3 of 5"]);
    assertEquals(
      iqm.note,
      "without seed 3: failed on CartPole-v1, 4: missing on CartPole-v1; few runs: too narrow",
    );
    for (
      const { name, caption } of report.sections.flatMap((it) => it.figures)
    ) {
      assertStringIncludes(caption, "3 of 5", name);
      assertMatch(caption, /few runs: too narrow: .*a2c/, name);
      assertStringIncludes(caption, "bootstrap", name);
    }
    writeExperimentReport(dir, report);
    const html = await Deno.readTextFile(`${dir}/report.html`);
    assertStringIncludes(html, "18 of 20 runs finished");
    assertStringIncludes(html, "a2c/CartPole-v1/seed-3 failed: NaN &lt;b&gt;");
    assertStringIncludes(html, "a2c/CartPole-v1/seed-4 is missing");
    assertStringIncludes(html, "<th>a2c</th><td>");
  }));

Deno.test("one seed has no interval; nothing finished has dashes and no figures", () =>
  withFolder(async (dir) => {
    const one = await reported(
      `${dir}/one`,
      PLAN.replace("seeds: 5", "seeds: 1") + SCORES,
    );
    assertEquals(rowsOf(one, "last-CartPole-v1")[0].interval, null);
    assertEquals(rowsOf(one, "last-aggregates")[0].interval, null);
    writeExperimentReport(dir, one);
    const report = await reported(
      dir,
      PLAN + SCORES,
      () => ({ ...none, state: "missing" }),
    );
    assertEquals(report.sections.flatMap((it) => it.figures), []);
    const [a2c] = rowsOf(report, "last-CartPole-v1");
    assertEquals([a2c.mean, a2c.interval, a2c.seeds], [null, null, "0 of 5"]);
    writeExperimentReport(dir, report);
  }));

Deno.test("what has no scale is left out of the normalized figures, with a line", () =>
  withFolder(async (dir) => {
    const report = await reported(dir, PLAN);
    const names = report.sections.flatMap((it) => it.figures)
      .map(({ name }) => name);
    assertEquals(names, ["learning-curves"]);
    writeExperimentReport(dir, report);
    assertStringIncludes(
      await Deno.readTextFile(`${dir}/report.html`),
      "Pendulum-v1 is left out of the normalized figures: it has no reward threshold",
    );
  }));

Deno.test("variants on other environments are said not to be comparable", () =>
  withFolder(async (dir) => {
    const words = "Variants differ in their environments";
    const captions = async (plan: string) =>
      (await reported(`${dir}/${folders++}`, plan)).sections
        .flatMap((it) => it.figures).map((it) => it.caption).join();
    let folders = 0;
    const own = PLAN.replace("ppo: {}", "ppo: { environments: [CartPole-v1] }");
    assertStringIncludes(await captions(own + SCORES), words);
    assertEquals((await captions(PLAN + SCORES)).includes(words), false);
  }));

Deno.test("curves over the share of training where runs differ in their steps", () =>
  withFolder(async (dir) => {
    const plan = PLAN.replace("ppo: {}", "ppo: { steps: 5000 }") + SCORES;
    const figures = (await reported(dir, plan)).sections[0].figures;
    const efficiency = figures.find((it) => it.name === "sample-efficiency")!;
    assertStringIncludes(efficiency.caption, "share of each one's training");
    const svg = efficiency.draw({ title: "", width: 760, height: 360 });
    assertStringIncludes(svg, "Share of training in percent");
  }));

Deno.test("a run without evaluations, or whose record and log are spoilt, is left out of the curves alone", () =>
  withFolder(async (dir) => {
    const made = madeUpExperiment(dir, PLAN + SCORES);
    const [first, second] = made.cells
      .filter(({ variant }) => variant === "a2c").map((it) => it.dir);
    // They may be of a version that wrote no record.
    await Deno.remove(`${first}/run.json`);
    await Deno.writeTextFile(`${second}/run.json`, "spoilt");
    await Deno.writeTextFile(`${second}/progress.csv`, "spoilt\n1\n");
    const lines: string[] = [];
    const report = await reportOf(made, {
      configs: new Map(),
      onNotice: (line) => lines.push(line),
    });
    assertEquals(lines.length, 1);
    assertStringIncludes(lines[0], "Left out of the curves: Cannot read");
    const [curves, efficiency] = report.sections[0].figures;
    assertStringIncludes(curves.caption, "a2c 4 of 5 (1 without evaluations)");
    assertStringIncludes(
      efficiency.caption,
      "a2c 4 of 5 (1 without evaluations)",
    );
    assertEquals(rowsOf(report, "last-CartPole-v1")[0].seeds, "5");
  }));

Deno.test("files: figures and tables that parse, in all formats, the same again", () =>
  withFolder(async (dir) => {
    const report = await reported(dir, PLAN + SCORES);
    assertEquals(writeExperimentReport(dir, report), `${dir}/report.html`);
    const names = (folder: string) =>
      Array.from(Deno.readDirSync(`${dir}/${folder}`), (it) => it.name).sort();
    const figures = names("figures");
    assertEquals(
      figures,
      [
        ...["aggregates", "improvement", "profile"].map((it) =>
          `best-${it}.svg`
        ),
        ...["aggregates", "improvement", "profile"].map((it) =>
          `last-${it}.svg`
        ),
        "learning-curves.svg",
        "sample-efficiency.svg",
      ].sort(),
    );
    for (const name of figures) {
      const svg = await Deno.readTextFile(`${dir}/figures/${name}`);
      assertEquals(parseSvg(svg).tagName, "svg");
      assert(!svg.includes("NaN") && svg.includes("prefers-color-scheme:dark"));
    }
    const tables = names("tables");
    assertEquals(tables.length, 3 * tablesOf(report).length);
    for (const it of ["last-Pendulum-v1.md", "time.csv", "scales.tex"]) {
      assert(tables.includes(it), it);
    }
    const page = await Deno.readTextFile(`${dir}/report.html`);
    writeExperimentReport(dir, await reported(`${dir}/again`, PLAN + SCORES));
    assertEquals(await Deno.readTextFile(`${dir}/report.html`), page);
  }));

chromiumTest(
  "the page shows, without errors, scripts or other files",
  () =>
    withFolder(async (dir) => {
      writeExperimentReport(dir, await reported(dir, PLAN + SCORES));
      const { values: [shown], complaints } = await inPage(
        dir,
        `new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.src = "/report.html";
        frame.width = 1200;
        frame.onload = () => {
          const page = frame.contentDocument;
          const count = (what) => page.querySelectorAll(what).length;
          const drawn = [...page.querySelectorAll("figure .wide > svg")]
            .filter((it) => it.getBoundingClientRect().width > 400).length;
          const missing = [...page.querySelectorAll("a")].map((it) => it.href)
            .filter((it) => !/(csv|tex|svg)$/.test(it));
          resolve([count("figure"), drawn, count("table"), count("script"), missing]);
        };
        document.body.append(frame);
      })`,
      );
      assertEquals(complaints, []);
      const tables = 2 * (2 + 2) + 2;
      assertEquals(shown, [8, 8, tables, 0, []]);
    }),
);
