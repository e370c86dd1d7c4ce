/** What a search adds to its runs: Optuna's start, a trial after 100 others, an evaluation. */
import { OptunaSampler } from "./optuna.ts";
import { type SearchEvent, SearchRecord } from "./record.ts";
import { randomSampler } from "./sampler.ts";
import type { Space } from "./space.ts";
import { hasOptuna } from "./testdata/has_optuna.ts";

const ignore = !hasOptuna();
const space: Space = {
  learningRate: { kind: "float", low: 1e-5, high: 0.1, log: true },
  entropyCoefficient: { kind: "float", low: 1e-5, high: 0.1, log: true },
  numSteps: { kind: "choice", choices: [5, 8, 16, 32] },
};
const TRIALS = 100, EVALUATIONS = 20;

/** A record of complete trials. */
function completeTrials(): SearchEvent[] {
  const random = randomSampler(space, 0);
  return Array.from({ length: TRIALS }).flatMap((_, trial) => {
    const params = random.ask(trial, []) as Record<string, unknown>;
    const value = Number(params.learningRate);
    return [
      { op: "ask", trial, params },
      ...Array.from({ length: EVALUATIONS }, (_, step): SearchEvent => ({
        op: "report",
        trial,
        run: 0,
        step,
        value,
      })),
      { op: "tell", trial, state: "complete", value },
    ] satisfies SearchEvent[];
  });
}

const events = completeTrials();

for (const sampler of ["tpe", "cmaes"] as const) {
  const study = new OptunaSampler({ space, sampler, seed: 0 });
  if (!ignore) {
    await study.start();
    await study.ask(TRIALS, events);
  }
  let trial = TRIALS;
  Deno.bench({
    name: `${sampler}: a trial after ${TRIALS} others`,
    ignore,
    async fn() {
      await study.ask(++trial, events);
    },
  });
  Deno.bench({
    name: `${sampler}: start of Python, and a record of ${TRIALS} trials`,
    ignore,
    async fn() {
      await study.close();
      await study.ask(++trial, events);
    },
  });
}

const record = new SearchRecord(await Deno.makeTempFile());
record.append({ op: "begin", plan: {}, sampler: "", scores: {} });
record.append({ op: "ask", trial: 0, params: {} });
let step = 0;
Deno.bench("an evaluation, on the disk", () => {
  record.append({ op: "report", trial: 0, run: 0, step: step++, value: 1 });
});
