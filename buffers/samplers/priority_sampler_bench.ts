import { testRandom } from "../testdata/random.ts";
import type { PrioritySampler } from "./priority_sampler.ts";
import { ProportionalSampler } from "./proportional_sampler.ts";
import { RankBasedSampler } from "./rank_based_sampler.ts";

const capacity = 1_000_000;
const batch = 256;
const random = testRandom(1);
const rows = { first: 0, length: capacity, capacity };

function benchSampler(name: string, sampler: PrioritySampler): void {
  const slots = new Int32Array(batch);
  const weights = new Float32Array(batch);
  const priorities = new Float32Array(batch);
  let next = 0;
  const prioritize = () => {
    for (let i = 0; i < batch; i++) priorities[i] = 0.01 + random.uniform();
    sampler.updatePriorities(slots, priorities);
  };
  sampler.resize(capacity);
  sampler.added(0, capacity);
  for (let i = 0; i + batch <= capacity; i += batch) {
    for (let j = 0; j < batch; j++) slots[j] = i + j;
    prioritize();
  }

  Deno.bench(`${name}: draw ${batch} of ${capacity}`, () => {
    sampler.draw({ slots, weights }, { rows, random });
  });
  Deno.bench(`${name}: draw ${batch} and give them priorities`, () => {
    sampler.draw({ slots, weights }, { rows, random });
    prioritize();
  });
  Deno.bench(`${name}: replace a row`, () => {
    sampler.removed(next, 1);
    sampler.added(next, 1);
    next = (next + 1) % capacity;
  });
}

benchSampler("proportional", new ProportionalSampler());
benchSampler("rank-based", new RankBasedSampler());
