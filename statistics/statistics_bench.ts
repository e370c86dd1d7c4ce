/** 50,000 resamples of 10 runs on 26 tasks. */
import { SeededRandom } from "@bellman/envs";
import {
  interquartileMean,
  mean,
  performanceProfile,
  probabilityOfImprovement,
  stratifiedBootstrap,
} from "./mod.ts";

const random = new SeededRandom(0);
const normal = () =>
  Array.from(
    { length: 10 },
    () => Array.from({ length: 26 }, () => random.normal()),
  );
const [x, y] = [normal(), normal()];
const thresholds = Array.from({ length: 81 }, (_, i) => i / 20 - 2);

Deno.bench("interquartile mean with its interval", () => {
  stratifiedBootstrap(x, interquartileMean, { random });
});
Deno.bench("mean with its interval", () => {
  stratifiedBootstrap(x, mean, { random });
});
Deno.bench("performance profile of 81 thresholds", () => {
  performanceProfile(x, thresholds, { random });
});
Deno.bench("probability of improvement", () => {
  probabilityOfImprovement(x, y, { random });
});
