import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Hyperparameters, RunEnd } from "./logger.ts";
import { preparePython, runPython } from "../../../tests/testdata/python.ts";
import {
  double,
  encodeRecord,
  integer,
  maskedCrc,
  message,
  scalars,
  TensorBoardLogger,
  text,
} from "./tensorboard_logger.ts";

const files = (dir: string) =>
  [...Deno.readDirSync(dir)].map(({ name }) => name).sort();

Deno.test("checksums are those of the format", () => {
  // RFC 3720, B.4: the CRC-32C of 32 zero bytes is 8a9136aa.
  const crc = 0x8a9136aa;
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
  assertEquals(maskedCrc(new Uint8Array(32)), masked);
});

Deno.test("a record is length, checksum, event, checksum", () => {
  const record = encodeRecord(double(1, 1.5), text(3, "brain.Event:2"));
  const data = record.subarray(12, -4);
  const view = new DataView(record.buffer);
  assertEquals(view.getBigUint64(0, true), BigInt(data.length));
  assertEquals(view.getUint32(8, true), maskedCrc(record.subarray(0, 8)));
  assertEquals(view.getUint32(12 + data.length, true), maskedCrc(data));
  assertEquals(
    data.toHex(),
    [
      "09000000000000f83f", // field 1, double 1.5
      "1a0d627261696e2e4576656e743a32", // field 3, text of 13 bytes
    ].join(""),
  );
  const [value] = scalars({ a: 1, b: NaN });
  const scalar = encodeRecord(double(1, 0), integer(2, 300), message(5, value));
  assertEquals(
    scalar.subarray(12, -4).toHex(),
    [
      "090000000000000000",
      "10ac02", // field 2, step 300
      "2a0a0a08", // field 5, summary of 10 bytes: field 1, value of 8 bytes
      "0a0161", // field 1, tag "a"
      "150000803f", // field 2, float 1
    ].join(""),
  );
});

Deno.test("each file sorts after those that are there", async () => {
  const dir = await Deno.makeTempDir();
  for (let i = 0; i < 3; i++) {
    const logger = new TensorBoardLogger(dir, { now: () => 1_700_000_000_000 });
    logger.write({ step: i, statistics: { loss: i } });
    logger.close();
    logger.close();
  }
  assertEquals(files(dir), [
    "events.out.tfevents.1700000000.bellman",
    "events.out.tfevents.1700000001.bellman",
    "events.out.tfevents.1700000002.bellman",
  ]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("nothing is written before there is something, nor after closing", async () => {
  const dir = await Deno.makeTempDir();
  const logger = new TensorBoardLogger(dir);
  logger.flush();
  logger.close();
  assertEquals(files(dir), []);
  assertThrows(
    () => logger.write({ step: 1, statistics: {} }),
    TypeError,
    "it is closed",
  );
  await Deno.remove(dir, { recursive: true });
});

const python = await preparePython();

const script = `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1])
events.Reload()
print(json.dumps({tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
`;

Deno.test({
  name: "Python's tensorboard reads the scalars [Python]",
  ignore: python.missing !== undefined,
  fn: async () => {
    const dir = await Deno.makeTempDir();
    const logger = new TensorBoardLogger(dir, { now: () => 1_700_000_000_250 });
    logger.write({
      step: 80,
      statistics: { "train/loss": 0.5, "rollout/return_mean": NaN },
    });
    logger.write({
      step: 3_000_000_000,
      statistics: { "train/loss": -2, "rollout/return_mean": 21 },
    });
    logger.close();
    assertEquals(await runPython(python, script, dir), {
      "train/loss": [[80, 0.5, 1_700_000_000.25], [
        3_000_000_000,
        -2,
        1_700_000_000.25,
      ]],
      "rollout/return_mean": [[3_000_000_000, 21, 1_700_000_000.25]],
    });
    await Deno.remove(dir, { recursive: true });
  },
});

Deno.test({
  name: "a resumed run reads like an uninterrupted one [Python]",
  ignore: python.missing !== undefined,
  fn: async () => {
    const dir = await Deno.makeTempDir();
    const killed = new TensorBoardLogger(dir);
    for (const step of [10, 20, 30, 40]) {
      killed.write({ step, statistics: { loss: step } });
    }
    killed.close();
    // The last event was cut short.
    const [name] = files(dir);
    const { size } = Deno.statSync(`${dir}/${name}`);
    Deno.truncateSync(`${dir}/${name}`, size - 5);
    const resumed = new TensorBoardLogger(dir);
    resumed.truncate(20);
    for (const step of [30, 50]) {
      resumed.write({ step, statistics: { loss: -step } });
    }
    resumed.close();
    const { loss } = await runPython(python, script, dir) as {
      loss: [number, number][];
    };
    assertEquals(
      loss.map(([step, value]) => [step, value]),
      [[10, 10], [20, 20], [30, -30], [50, -50]],
    );
    assert(files(dir).length === 2);
    await Deno.remove(dir, { recursive: true });
  },
});

const tables = `
import json, sys
from tensorboard.backend.event_processing import data_provider
from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.plugins import base_plugin
from tensorboard.plugins.hparams import api_pb2, backend_context, get_experiment, list_session_groups
from google.protobuf import json_format
multiplexer = plugin_event_multiplexer.EventMultiplexer()
multiplexer.AddRunsFromDirectory(sys.argv[1])
multiplexer.Reload()
provider = data_provider.MultiplexerDataProvider(multiplexer, sys.argv[1])
context = backend_context.Context(base_plugin.TBContext(data_provider=provider))
from tensorboard.context import RequestContext
request = RequestContext()
experiment = get_experiment.Handler(request, context, "", api_pb2.GetExperimentRequest()).run()
asked = api_pb2.ListSessionGroupsRequest(
    start_index=0, slice_size=100, allowed_statuses=[0, 1, 2, 3])
groups = list_session_groups.Handler(request, context, "", asked).run()
images = {}
for tags in provider.read_blob_sequences(request, experiment_id="", plugin_name="images", downsample=100).values():
    for tag, series in tags.items():
        images[tag] = [[it.step, [provider.read_blob(request, blob_key=v.blob_key).hex() for v in it.values]] for it in series]
print(json.dumps({
    "settings": sorted([it.name, it.type] for it in experiment.hparam_infos),
    "metrics": [it.name.tag for it in experiment.metric_infos],
    "groups": [json_format.MessageToDict(it) for it in groups.session_groups],
    "images": images,
}))
`;

Deno.test({
  name: "Python's tensorboard reads images [Python]",
  ignore: python.missing !== undefined,
  fn: async () => {
    const dir = await Deno.makeTempDir();
    const logger = new TensorBoardLogger(`${dir}/run`);
    // An image of one pixel.
    const data = Uint8Array.fromHex(
      "47494638396101000100800000ffffff00000021f90401000000002c000000000100010000020144003b",
    );
    const image = { name: "eval/episode", width: 1, height: 1, data };
    for (const step of [0, 80]) logger.writeImage({ step, ...image });
    logger.close();
    const { images } = await runPython(python, tables, dir) as {
      images: Record<string, [number, string[]][]>;
    };
    assertEquals(Object.keys(images), ["eval/episode"]);
    assertEquals(
      images["eval/episode"].map(([step, blobs]) => [step, blobs.at(-1)]),
      [[0, data.toHex()], [80, data.toHex()]],
    );
    await Deno.remove(dir, { recursive: true });
  },
});

Deno.test({
  name:
    "Python's tensorboard has one table of runs: all settings, and how each ended [Python]",
  ignore: python.missing !== undefined,
  fn: async () => {
    const dir = await Deno.makeTempDir();
    const runs: Record<string, Hyperparameters> = {
      a: { algorithm: "a2c", learningRate: 0.003, stopReward: null, seed: 7 },
      // Other settings, other types of one, numbers that JSON has not.
      b: { algorithm: "sac", learningRate: "linear", maxSteps: Infinity },
      c: { algorithm: "sac", stopReward: 475, normalizeReward: false },
    };
    const ends: Record<string, RunEnd> = { a: "success", b: "failure" };
    for (const [name, settings] of Object.entries(runs)) {
      const logger = new TensorBoardLogger(`${dir}/${name}`);
      logger.writeHyperparameters(settings);
      logger.write({ step: 80, statistics: { "eval/return_mean": 12.5 } });
      if (name in ends) logger.writeEnd(ends[name]);
      logger.close();
    }
    const { settings, metrics, groups } = await runPython(
      python,
      tables,
      dir,
    ) as {
      settings: [string, number][];
      metrics: unknown;
      groups: {
        name: string;
        hparams: unknown;
        metricValues: { value: number }[];
        sessions: { status: string }[];
      }[];
    };
    const types = { string: 1, boolean: 2, number: 3 };
    assertEquals(settings, [
      ["algorithm", types.string],
      ["learningRate", types.string],
      ["maxSteps", types.string],
      ["normalizeReward", types.boolean],
      ["seed", types.number],
      ["stopReward", types.number],
    ]);
    assertEquals(metrics, ["eval/return_mean"]);
    const byName = Object.fromEntries(groups.map((it) => [it.name, it]));
    assertEquals(
      Object.values(runs).map((_, i) => {
        const { metricValues, sessions } = byName["abc"[i]];
        // Protocol Buffers leave out what is unknown.
        return [metricValues[0].value, sessions[0].status ?? "STATUS_UNKNOWN"];
      }),
      [[12.5, "STATUS_SUCCESS"], [12.5, "STATUS_FAILURE"], [
        12.5,
        "STATUS_UNKNOWN",
      ]],
    );
    assertEquals(byName.b.hparams, {
      algorithm: "sac",
      learningRate: "linear",
      maxSteps: "Infinity",
    });
    await Deno.remove(dir, { recursive: true });
  },
});
