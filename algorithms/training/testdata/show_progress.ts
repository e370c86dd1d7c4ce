/** Trains the toy for a second and more: its progress is seen on a terminal. */
import { train } from "../mod.ts";
import { ToyAlgorithm, ToyEnv } from "./toy.ts";

const [options] = (globalThis as typeof globalThis & {
  process: { argv: string[] };
}).process.argv.slice(2);
let time = 0;
await train(new ToyAlgorithm(4), new ToyEnv(4), {
  totalTimesteps: 4000,
  now: () => time++,
  ...JSON.parse(options),
});
