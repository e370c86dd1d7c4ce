/** A search whose runs are made several at a time. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { existsSync } from "node:fs";
import { withSearch } from "../../lab/search/testdata/with_search.ts";

Deno.test("runs of several environments, two at a time, are those of one at a time", () =>
  withSearch(async (search, dir) => {
    const text = `algorithm: a2c
environments: [CartPole-v1, CartPole-v0]
scores: { CartPole-v1: { low: 0, high: 100 } }
sampler: random
trials: 2
objective: area
pruner: none
preset: none
steps: 600
set: { hiddenSizes: [8], evaluationInterval: 200, evaluationEpisodes: 2, learningRate: 1e-5 }
space: { learningRate: [1e-4, 1e-2] }
confirm: { top: 1, seeds: 1 }
`;
    const { code, err } = await search(text, "--jobs", "2");
    assertEquals(code, 0, err);
    // Where nothing is given, 0 is what random actions reach.
    assertMatch(
      err,
      /^Measuring the return of random actions on CartPole-v0: .*\n$/,
    );
    const values = (record: string) =>
      record.split("\n").filter((it) => it.includes('"complete"'))
        .map((it) => JSON.parse(it)).sort((a, b) => a.trial - b.trial)
        .map(({ trial, value }) => [trial, value]);
    const together = values(Deno.readTextFileSync(`${dir}/trials.jsonl`));
    assertEquals(together.map(([trial]) => trial), [0, 1]);
    assert(existsSync(`${dir}/trials/0001/CartPole-v0/seed-0/report.html`));
    assert(existsSync(`${dir}/best-CartPole-v1.yaml`));
    const seeds = Deno.readTextFileSync(`${dir}/best-CartPole-v0.yaml`);
    assertMatch(seeds, /mean normalized score on 1 of 1 seeds/);
    await Deno.remove(dir, { recursive: true });
    assertEquals((await search(text)).code, 0);
    assertEquals(
      values(Deno.readTextFileSync(`${dir}/trials.jsonl`)),
      together,
    );
  }));
