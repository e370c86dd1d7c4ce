import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { capture } from "../testdata/capture.ts";

const PLAN = `
name: tiny
environments: [CartPole-v1]
seeds: 2
steps: 400
episodes: 2
set: { hiddenSizes: [4], evaluationEpisodes: 2, numEnvs: 2 }
variants: { a2c: {} }
`;

/** Contents of what an experiment makes anew, by their paths. */
function made(dir: string): Record<string, string> {
  const paths = ["results.csv", "report.html"];
  for (const folder of ["figures", "tables"]) {
    for (const { name } of Deno.readDirSync(`${dir}/${folder}`)) {
      paths.push(`${folder}/${name}`);
    }
  }
  return Object.fromEntries(
    paths.sort().map((it) => [it, Deno.readTextFileSync(`${dir}/${it}`)]),
  );
}

Deno.test("an experiment ends with a report, which --report makes again", () =>
  withFolder(async (folder) => {
    const plan = `${folder}/plan.yaml`, dir = `${folder}/tiny`;
    await Deno.writeTextFile(plan, PLAN);
    const command = ["experiment", plan, "--out", dir];
    const early = await capture(...command, "--report");
    assertEquals(early.code, 2);
    assertMatch(early.err, /Cannot report .*: none of its cells has begun\n$/);
    assertEquals(existsSync(dir), false);

    const ran = await capture(...command, "--jobs", "1");
    assertEquals(ran.code, 0, ran.err);
    assertStringIncludes(ran.out, `, report: ${dir}/report.html\n`);
    const files = made(dir);
    for (
      const name of [
        "report.html",
        "figures/learning-curves.svg",
        "figures/last-aggregates.svg",
        "tables/best-CartPole-v1.tex",
      ]
    ) assertEquals(name in files, true, name);
    assertStringIncludes(files["report.html"], "2 of 2 runs finished");

    for (const it of Object.keys(files)) await Deno.remove(`${dir}/${it}`);
    const again = await capture("experiment", dir, "--report");
    assertEquals([again.code, again.err], [0, ""]);
    assertEquals(again.out, `Report: ${dir}/report.html\n`);
    assertEquals(made(dir), files);

    const { code, out, err } = await capture(...command, "--table", "csv");
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, files["tables/last-CartPole-v1.csv"]);
    assertMatch(out, /^variant,aggregate,value,interval low,interval high,/);
    const wrong = await capture(...command, "--table", "xml");
    assertEquals(wrong.code, 2);
    assertStringIncludes(
      wrong.err,
      "Cannot use --table xml: expected one of md, csv, latex",
    );
  }));
