/** Trains the toy in a folder, or goes on there. Run by tests, which kill it. */
import {
  CheckpointStore,
  CsvLogger,
  EpisodesCsv,
  stopOnNoImprovement,
  TensorBoardLogger,
  train,
} from "../mod.ts";
import { ToyAlgorithm, ToyEnv } from "./toy.ts";

const [dir, totalTimesteps] = Deno.args;
const store = new CheckpointStore(`${dir}/checkpoints`);
const { checkpoints } = store.list();
const resumeFrom = checkpoints.length > 0
  ? store.load("latest").state
  : undefined;
Deno.stdout.writeSync(new TextEncoder().encode("ready\n"));

const numEnvs = 4;
const result = await train(new ToyAlgorithm(numEnvs), new ToyEnv(numEnvs), {
  totalTimesteps: Number(totalTimesteps),
  seed: 3,
  logInterval: 10,
  loggers: [
    new CsvLogger(`${dir}/progress.csv`),
    new EpisodesCsv(`${dir}/episodes.csv`),
    new TensorBoardLogger(dir),
  ],
  callbacks: [stopOnNoImprovement({ patience: 1_000_000 })],
  evaluation: { env: new ToyEnv(3), everyTimesteps: 2_000, episodes: 7 },
  checkpoints: { store, everyTimesteps: 700, keepLast: 2 },
  resumeFrom,
});
Deno.stdout.writeSync(
  new TextEncoder().encode(`${result.stopReason} ${result.step}\n`),
);
