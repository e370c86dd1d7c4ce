import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SearchRecord, type Trial } from "../../lab/search/record.ts";
import { importancesOf, SearchEntry } from "./searches.ts";
import { makePipe } from "../../lab/runs/folder/testdata/folders.ts";

const root = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-board-searches-" }),
);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

const entryOf = (name: string) =>
  new SearchEntry({ root, realRoot: root, name });

Deno.test("a search has its trials as they are told", async () => {
  Deno.mkdirSync(`${root}/good`);
  const path = `${root}/good/trials.jsonl`;
  const record = new SearchRecord(path);
  const plan = {
    algorithm: "a2c",
    environments: ["CartPole-v1"],
    trials: 9,
    objective: "area",
    space: {
      gamma: { kind: "float", low: 0.5, high: 1, log: true },
      numSteps: { kind: "choice", choices: [5, 16] },
    },
  };
  record.append({ op: "begin", plan, sampler: "random", scores: {} });
  record.append({ op: "ask", trial: 0, params: { gamma: 0.5 } });
  record.append({ op: "report", trial: 0, run: 0, step: 10, value: 3 });
  const entry = entryOf("good");
  const first = await entry.look();
  assertEquals([first?.trials, first?.plannedTrials, first?.best], [
    1,
    9,
    null,
  ]);
  assertEquals(entry.details().trials[0].value, 3);
  assertEquals(await entry.look(), undefined);
  record.append({ op: "tell", trial: 0, state: "complete", value: 7 });
  const params = { gamma: 0.9, numSteps: 5 };
  record.append({ op: "ask", trial: 1, params });
  record.append({ op: "tell", trial: 1, state: "failed", message: "No" });
  record.close();
  assertEquals((await entry.look())?.best, 7);
  const { trials, space, scoreName, importances } = entry.details();
  assertEquals(trials.map((it) => [it.state, it.value, it.message]), [
    ["complete", 7, ""],
    ["failed", null, "No"],
  ]);
  assertEquals(space, { gamma: true, numSteps: false });
  assertStringIncludes(scoreName, "all evaluations");
  assertEquals(importances, {});
});

Deno.test("records that somebody else has made harm nothing", async () => {
  const names = Object.getOwnPropertyNames(Array.prototype).length;
  for (const run of ["__proto__", "push", -1, 0.5]) {
    const dir = `${root}/run ${run}`;
    Deno.mkdirSync(dir);
    const record = new SearchRecord(`${dir}/trials.jsonl`);
    const plan = { environments: 3, space: [], trials: "x", algorithm: null };
    record.append({ op: "begin", plan, sampler: "", scores: 0 });
    record.append({ op: "ask", trial: 0, params: {} });
    const event = { op: "report", trial: 0, step: 1, value: 1, run } as const;
    record.append(event as never);
    record.close();
    const entry = entryOf(`run ${run}`);
    assertStringIncludes((await entry.look())!.problems[0], "line 3");
    JSON.stringify(entry.details());
  }
  assertEquals([].length, 0);
  assertEquals(Object.getOwnPropertyNames(Array.prototype).length, names);
  Deno.mkdirSync(`${root}/pipe`);
  makePipe(`${root}/pipe/trials.jsonl`);
  assertStringIncludes((await entryOf("pipe").look())!.problems[0], "a pipe");
  Deno.mkdirSync(`${root}/link`);
  Deno.symlinkSync("/etc/passwd", `${root}/link/trials.jsonl`);
  assertStringIncludes(
    (await entryOf("link").look())!.problems[0],
    "it leads out of its folder",
  );
});

Deno.test("settings that decide the score are important, others are not", () => {
  const trials = Array.from({ length: 60 }, (_, number): Trial => ({
    number,
    params: {
      rate: number * 7 % 60,
      kind: ["a", "b"][number % 2],
      idle: number % 3,
    },
    state: "complete",
    value: number * 7 % 60 + (number % 2),
    evaluations: [],
  }));
  const found = importancesOf(trials, ["rate", "kind", "idle", "none"]);
  assert(found.rate > 0.85 && found.rate <= 1, String(found.rate));
  assert(found.kind < 0.1 && found.idle < 0.1, JSON.stringify(found));
  assertEquals(found.none, 0);
  assertEquals(importancesOf(trials.slice(0, 7), ["rate"]), {});
});
