import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ExperimentDetails } from "./messages.ts";
import {
  HEADER,
  makeRun,
  rowsOf,
} from "../../lab/runs/folder/testdata/folders.ts";
import { askedBoard } from "./testdata/requests.ts";

const root = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-board-experiments-" }),
);
const dir = `${root}/first`;
const PLAN = `name: first
environments: [CartPole-v1]
seeds: 3
episodes: 10
scores: { CartPole-v1: { low: 0, high: 100 } }
variants: { a2c: {}, slow: { algorithm: a2c, set: { learningRate: 0.1 } } }
compare: [[a2c, slow]]
`;
Deno.mkdirSync(`${dir}/runs`, { recursive: true });
Deno.writeTextFileSync(`${dir}/plan.yaml`, PLAN);

/** Ends a cell with a return. */
function finish(
  variant: string,
  seed: number,
  value: number,
  { isFormer = false } = {},
): void {
  const policy = { step: 500, meanReturn: value, stdReturn: 1 };
  const own = { last: policy, best: policy, steps: 500, seconds: 4 };
  const whole = { ...policy, seed: 1, episodes: 10 };
  const evaluations = { during: [], last: whole, best: whole };
  makeRun(`${dir}/runs/${variant}/CartPole-v1/seed-${seed}`, {
    config: { seed },
    log: `${HEADER}\n${rowsOf(0, 50)}`,
    ...isFormer
      ? {
        stopped: "completed",
        files: { "evaluations.json": JSON.stringify(own) },
      }
      : { record: { state: "ended", step: 500, seconds: 4, evaluations } },
  });
}

finish("a2c", 0, 60, { isFormer: true });
makeRun(`${dir}/runs/slow/CartPole-v1/seed-0`, { log: `${HEADER}\n` });
makeRun(`${dir}/runs/slow/CartPole-v1/seed-1`, {
  record: { state: "failed", reason: "It diverged" },
});
const bad: [name: string, plan: string, why: string][] = [
  [
    "many",
    "seeds: 1000000\nvariants: { a2c: { environments: [a] } }",
    "more than 10,000 cells",
  ],
  [
    "ranges",
    "variants: { a2c: { seeds: 0..999999, environments: [a] } }",
    "more than 10,000 cells",
  ],
  ["key", "seedz: 3", "seedz"],
  ["tag", "seeds: !!js/regexp /a/", "tag"],
];
for (const [name, plan] of bad) {
  Deno.mkdirSync(`${root}/${name}/runs`, { recursive: true });
  Deno.writeTextFileSync(`${root}/${name}/plan.yaml`, plan);
}

const board = await askedBoard([root]);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

/** Waits for details of the experiment with some finished cells. */
async function detailsWith(finished: number): Promise<ExperimentDetails> {
  for (let tries = 0; tries < 100; tries++) {
    const { experiments } = await (await board.get("/api/index")).json();
    const found = experiments.find((it: { name: string }) =>
      it.name === "first"
    );
    if (found?.finished === finished) {
      return await (await board.get(`/api/experiments/${found.id}`)).json();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`there are no ${finished} finished cells`);
}

Deno.test("an experiment has its cells as they are, and figures that follow them", async () => {
  const first = await detailsWith(1);
  const { summary } = first;
  assertEquals([summary.cells, summary.failed, summary.isRunning], [
    6,
    1,
    false,
  ]);
  const states = first.cells.map((
    it,
  ) => [it.variant, it.seed, it.state, it.last]);
  assertEquals(states.toSorted(), [
    ["a2c", 0, "finished", 60],
    ["a2c", 1, "missing", null],
    ["a2c", 2, "missing", null],
    ["slow", 0, "unfinished", null],
    ["slow", 1, "failed", null],
    ["slow", 2, "missing", null],
  ]);
  assertEquals(
    first.cells.find(({ state }) => state === "failed")?.message,
    "It diverged",
  );
  const index = await (await board.get("/api/index")).json();
  const run = index.runs.find((it: { name: string }) =>
    it.name === "first/runs/a2c/CartPole-v1/seed-0"
  );
  assertEquals(run.experiment, summary.id);
  assert(first.cells.some((it) => it.run === run.id));
  const tableOf = ({ tables }: ExperimentDetails) => JSON.stringify(tables);
  assertStringIncludes(tableOf(first), "60.0");
  const names = first.figures.map(({ name }) => name);
  assert(names.includes("learning-curves"), names.join());
  const path = `/api/experiments/${summary.id}/figures/`;
  for (const name of names) {
    const response = await board.get(path + name);
    assertEquals(response.headers.get("content-type"), "image/svg+xml");
    assertStringIncludes(
      response.headers.get("content-security-policy")!,
      "sandbox",
    );
    assertStringIncludes(await response.text(), "<svg");
  }
  const none = await board.get(`${path}none`);
  assertEquals([none.status, (await none.text()).length > 0], [404, true]);
  finish("a2c", 1, 80);
  finish("slow", 0, 20);
  const later = await detailsWith(3);
  assertStringIncludes(tableOf(later), "70.0");
  assert(tableOf(later) !== tableOf(first));
});

Deno.test("plans that are wrong or too large are said to be, and nothing fails", async () => {
  const { experiments } = await (await board.get("/api/index")).json();
  for (const [name, , why] of bad) {
    const { id, problems, cells } = experiments
      .find((it: { name: string }) => it.name === name);
    assertEquals([problems.length, cells], [1, 0], name);
    assertStringIncludes(problems[0], why);
    const details = await (await board.get(`/api/experiments/${id}`)).json();
    assertEquals(details.tables, []);
  }
  await board.close();
});
