import { testRandom } from "../testdata/random.ts";
import { SumTree } from "./sum_tree.ts";

const leaves = 1_000_000;
const batch = 256;
const random = testRandom(1);
const { uniform } = random;

const tree = new SumTree(leaves);
tree.load(Float64Array.from({ length: leaves }, uniform));
const indices = new Int32Array(batch);
const masses = new Float64Array(batch);
const values = Float64Array.from({ length: batch }, uniform);
let next = 0;

Deno.bench(`find ${batch} of ${leaves} leaves`, () => {
  const step = tree.total / batch;
  for (let i = 0; i < batch; i++) masses[i] = (i + uniform()) * step;
  tree.findMany(masses, indices);
});

Deno.bench(`set ${batch} of ${leaves} leaves, in order, and sum`, () => {
  indices.forEach((index, i) => tree.set(index, values[i]));
  tree.total;
});

Deno.bench(`set ${batch} of ${leaves} leaves, at random, and sum`, () => {
  for (let i = 0; i < batch; i++) indices[i] = random.integer(leaves);
  indices.forEach((index, i) => tree.set(index, values[i]));
  tree.total;
});

Deno.bench(`set ${batch} leaves one by one`, () => {
  for (let i = 0; i < batch; i++) {
    tree.set(next, values[i]);
    next = (next + 1) % leaves;
  }
});
