/** The report of 3 variants in 5 environments with 10 seeds each. */
import { reportOf, writeExperimentReport } from "./report.ts";
import { madeUpExperiment } from "./testdata/experiment.ts";

const environments = [1, 2, 3, 4, 5].map((i) => `Made${i}-v0`);
const made = madeUpExperiment(
  Deno.makeTempDirSync({ prefix: "bellman-report-" }),
  `
environments: [${environments.join(", ")}]
seeds: 10
variants: { a2c: {}, ppo: {}, sac: {} }
scores: { ${
    environments.map((it) => `${it}: { low: 0, high: 200 }`).join(", ")
  } }
compare: [[ppo, a2c], [sac, a2c], [sac, ppo]]
`,
);

Deno.bench(
  "report of 3 variants, 5 environments, 10 seeds",
  { n: 5, warmup: 1 },
  async () => {
    const options = { configs: new Map(), onNotice: () => {} };
    writeExperimentReport(made.dir, await reportOf(made, options));
  },
);

globalThis.addEventListener("unload", () => {
  Deno.removeSync(made.dir, { recursive: true });
});
