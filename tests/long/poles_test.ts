/** The seeds of CartPole that are not beside the other tests of learning. */
import { POLES, testPole } from "../learning/testdata/poles.ts";

for (const [algorithm, { seeds }] of Object.entries(POLES)) {
  for (const seed of seeds.slice(1)) testPole(algorithm, seed);
}
