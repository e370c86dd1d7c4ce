import { isXlaInstalled } from "@bellman/compute/xla";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { capture } from "./testdata/capture.ts";
import { resumeEqual } from "./testdata/resume_equal.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-device-loop-" });

const SMALL = [
  "--set=loop=device",
  "--set=numEnvs=4",
  "--set=numSteps=5",
  "--set=hiddenSizes=[8]",
  "--set=evaluationEpisodes=2",
  "--quiet",
];

function train(...args: string[]) {
  return capture("train", ...SMALL, ...args);
}

/** Adds a test for the engine that every machine has, and for XLA. */
function testEngines(name: string, test: (engine: string) => Promise<void>) {
  for (const engine of ["onnx", "xla"]) {
    Deno.test(`${name} ${engine === "xla" ? "[XLA]" : `(${engine})`}`, {
      ignore: engine === "xla" && !isXlaInstalled(),
    }, () => test(engine));
  }
}

testEngines(
  "a run in a loop on the device logs, evaluates, saves and exports",
  async (engine) => {
    const out = `${dir}/run-${engine}`;
    const { code, err } = await train(
      `--engine=${engine}`,
      "--steps=790",
      "--set=logInterval=200",
      "--set=evaluationInterval=400",
      "--set=checkpointInterval=200",
      `--out=${out}`,
    );
    assertEquals(code, 0, err);
    const [header, ...rows] = Deno.readTextFileSync(`${out}/progress.csv`)
      .trim().split("\n").map((line) => line.split(","));
    const column = (name: string) =>
      rows.map((row) => row[header.indexOf(name)]);
    const filled = (name: string) => column(name).filter((it) => it !== "");
    // 40 updates of 20 steps each, 10 in a call.
    const evaluations = filled("eval/return_mean").length;
    assertEquals(evaluations, 2);
    const updates = rows.filter((row) =>
      row[header.indexOf("train/loss")] !== ""
    )
      .map((row) => row[header.indexOf("time/updates")]);
    assertEquals(updates, ["10", "20", "30", "40"]);
    const episodes = Deno.readTextFileSync(`${out}/episodes.csv`);
    assert(episodes.trim().split("\n").length > 10);
    assert(Deno.statSync(`${out}/policy.onnx`).size > 0);
    const evaluated = await capture("eval", out, "--episodes=2", "--json");
    assertEquals(evaluated.code, 0, evaluated.err);
  },
);

Deno.test("a loop on the device knows its environment's limit and threshold", async () => {
  const out = `${dir}/spec`;
  const { code, err } = await capture(
    ...["train", "--engine=onnx", "--set=loop=device", "--set=numEnvs=4"],
    ...["--steps=200", "--set=evaluationEpisodes=2", `--out=${out}`],
  );
  assertEquals(code, 0, err);
  assert(!err.includes("no limit of steps"), err);
  const report = await Deno.readTextFile(`${out}/report.html`);
  assertStringIncludes(report, "solved: 475");
});

/** Settings against those of an algorithm where an environment has no preset. */
const PLAIN = [
  "--set=normalizeObservation=false",
  "--set=normalizeReward=false",
];

const OF_PPO = ["epochs=3", "learningRate=0.01", "targetKl=0.003", "seed=3"];
const RESUMED: Record<string, string[]> = {
  a2c: [],
  ppo: [...PLAIN, ...OF_PPO.map((it) => `--set=${it}`)],
};
for (const [algorithm, own] of Object.entries(RESUMED)) {
  testEngines(
    `${algorithm} in a loop on the device resumes as the whole run`,
    async (engine) => {
      const steps = ["--set=checkpointInterval=400", "--set=logInterval=200"];
      const of = `${algorithm}-${engine}`;
      const [whole, cut] = [`${dir}/whole-${of}`, `${dir}/cut-${of}`];
      for (const out of [whole, cut]) {
        const { code, err } = await capture(
          ...["train", algorithm, ...SMALL, "--steps=800", ...steps, ...own],
          ...[`--engine=${engine}`, `--out=${out}`],
        );
        assertEquals(code, 0, err);
      }
      await resumeEqual(cut, whole);
    },
  );
}

const REFUSED: Record<string, string[]> = {
  "Cannot train a2c with loop: device and normalizeObservation: true: expected false, or loop: host":
    ["--set=normalizeObservation=true"],
  "loop: device and frameStack: 2: expected 1": ["--set=frameStack=2"],
  "loop: device and vectorization: workers: expected sync": [
    "--set=vectorization=workers",
  ],
  "Cannot find 'Chain-v0' as tensors: expected one of CartPole-v0": [
    ...PLAIN,
    "--env=Chain-v0",
  ],
  "loop: device and envKwargs: length: expected none": [
    ...PLAIN,
    "--env=Chain-v0",
    "--set=envKwargs={length: 3}",
  ],
  "Cannot run A2C with loop: device: its network is recurrent, expected loop: host":
    ["--set=network=lstm"],
};

for (const [message, args] of Object.entries(REFUSED)) {
  Deno.test(`a loop on the device refuses ${args.join(" ")}`, async () => {
    const { code, err } = await train(...args, `--out=${dir}/refused`);
    assertEquals(code, 2);
    const [error, ...notices] = err.trim().split("\n").toReversed();
    assertStringIncludes(error, message);
    // The small layers do nothing beside an LSTM.
    assert(notices.every((it) => it.includes("does nothing here")), err);
  });
}

const cases = [
  ["a3c", "loop: device and workers that learn: expected an algorithm"],
  ["acer", "Cannot run ACER with loop: device: it does more than"],
];
for (const [algorithm, message] of cases) {
  Deno.test(`a loop on the device refuses ${algorithm}`, async () => {
    const { code, err } = await capture(
      "train",
      algorithm,
      "--set=loop=device",
      "--set=normalizeObservation=false",
      "--set=normalizeReward=false",
      `--out=${dir}/refused`,
    );
    assertEquals(code, 2);
    assertStringIncludes(err, message);
  });
}
