import { assert, assertEquals } from "@std/assert";
import type {
  Hyperparameters,
  LoggedEpisode,
  LoggedImage,
  Logger,
  LogRow,
} from "@bellman/training";
import { capture } from "../../../cli/testdata/capture.ts";
import { hyperparametersOf, registerLogger } from "./loggers.ts";

/** Keeps what it is given. */
class Kept implements Logger {
  readonly rows: LogRow[] = [];
  readonly episodes: LoggedEpisode[] = [];
  readonly images: LoggedImage[] = [];
  settings: Hyperparameters | undefined;
  isClosed = false;

  write(row: LogRow): void {
    this.rows.push(row);
  }

  writeEpisode(episode: LoggedEpisode): void {
    this.episodes.push(episode);
  }

  writeImage(image: LoggedImage): void {
    this.images.push(image);
  }

  writeHyperparameters(settings: Hyperparameters): void {
    this.settings = settings;
  }

  close(): void {
    this.isClosed = true;
  }
}

Deno.test("a logger of one's own gets what TensorBoard gets", async () => {
  const dir = await Deno.makeTempDir({ prefix: "bellman-loggers-" });
  const kept = new Kept(), dirs: string[] = [];
  registerLogger((run) => {
    dirs.push(run.dir);
    return kept;
  });
  try {
    const { code, err } = await capture(
      ...["train", "--backend=cpu", "--steps=400", "--every=200", "--quiet"],
      ...["--set=evaluationEpisodes=1", `--out=${dir}/run`],
    );
    assertEquals([code, err], [0, ""]);
    assertEquals(dirs, [`${dir}/run`]);
    assert(kept.isClosed);
    assertEquals(kept.settings!.env, "CartPole-v1");
    assert(kept.rows.some((row) => "train/value_loss" in row.statistics));
    assert(kept.rows.some((row) => "eval/return_mean" in row.statistics));
    assert(kept.episodes.length > 3);
    assertEquals(
      kept.images.map(({ step, name }) => [step, name]),
      [[0, "eval/episode"], [200, "eval/episode"], [400, "eval/episode"]],
    );
    const [{ data, width, height }] = kept.images;
    const view = new DataView(data.buffer, data.byteOffset);
    assertEquals(new TextDecoder().decode(data.subarray(0, 3)), "GIF");
    assertEquals(
      [view.getUint16(6, true), view.getUint16(8, true)],
      [width, height],
    );
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("settings are plain values by their paths", () => {
  assertEquals(
    hyperparametersOf({
      env: "A-v0",
      envKwargs: { size: { width: 3 }, wind: true },
      hiddenSizes: [64, 64],
      stopReward: null,
      plugin: undefined,
    }),
    {
      env: "A-v0",
      "envKwargs.size.width": 3,
      "envKwargs.wind": true,
      hiddenSizes: "[64,64]",
      stopReward: null,
    },
  );
});
