import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describeEvaluation, round } from "./evaluation.ts";
import { evaluationEnvsFor } from "./environments.ts";
import { existsSync } from "node:fs";
import { DOMParser, onWarningStopParsing } from "@xmldom/xmldom";
import { CheckpointStore, readEpisodes } from "@bellman/training";
import { capture } from "../../../cli/testdata/capture.ts";

Deno.test("an evaluation is told in one line", () => {
  const result = {
    returns: [500, 480],
    lengths: [500, 480],
    cut: 0,
    meanReturn: 490,
    stdReturn: 10.123,
    minReturn: 480,
    maxReturn: 500,
    medianReturn: 490,
    meanLength: 490,
  };
  assertEquals(describeEvaluation(result), "490 ± 10.12 over 2 episodes");
  assertEquals(
    describeEvaluation({ ...result, lengths: [2500, 480], cut: 1 }),
    "490 ± 10.12 over 2 episodes, 1 of them cut after 2,500 steps",
  );
  assertEquals(round(12.3456), "12.35");
});

Deno.test("no more environments play than there are episodes", () => {
  assertEquals(evaluationEnvsFor(3), 3);
  assertEquals(evaluationEnvsFor(1000), 20);
});

const dir = await Deno.makeTempDir({ prefix: "bellman-policy-plots-" });
const SMALL = [
  "sac",
  ...["--steps", "120", "--quiet"],
  "--set=hiddenSizes=[8]",
  "--set=batchSize=8",
  "--set=learningStarts=16",
  "--set=maxEpisodeSteps=20",
  "--set=evaluationEpisodes=2",
  "--set=normalizeObservation=true",
];

async function train(name: string, ...more: string[]): Promise<string> {
  const out = `${dir}/${name}`;
  const { code, err } = await capture("train", ...SMALL, ...more, "--out", out);
  assertEquals(code, 0, err);
  return out;
}

/** The images of a run by name, each well-formed. */
function plotsOf(run: string): Record<string, string> {
  const names = [...Deno.readDirSync(`${run}/plots`)].map((it) => it.name);
  return Object.fromEntries(
    names.sort().map((name) => {
      const text = Deno.readTextFileSync(`${run}/plots/${name}`);
      new DOMParser({ onError: onWarningStopParsing })
        .parseFromString(text, "image/svg+xml");
      return [name, text];
    }),
  );
}

/** All that a run came to, but how long it took. */
function outcomeOf(run: string) {
  const { state } = new CheckpointStore(`${run}/checkpoints`).load("latest");
  const { loop, ...rest } = state as Record<string, Record<string, unknown>>;
  return {
    ...rest,
    loop: { ...loop, elapsedSeconds: 0 },
    episodes: readEpisodes(`${run}/episodes.csv`),
    policy: Deno.readFileSync(`${run}/policy.onnx`),
  };
}

const PENDULUM = ["--env=Pendulum-v1", "--set=evaluationInterval=50"];
const DRAWN = "--set=policyPlots=true";
const drawn = await train("drawn", ...PENDULUM, DRAWN);

Deno.test("each evaluation leaves an image of the first states", () => {
  const plots = plotsOf(drawn);
  assertEquals(Object.keys(plots), [
    "policy-000000050.svg",
    "policy-000000100.svg",
    "policy-000000120.svg",
  ]);
  const svg = plots["policy-000000100.svg"];
  assertStringIncludes(svg, "sac on Pendulum-v1, 100 steps");
  assertEquals(svg.match(/class="bp-panel"/g)?.length, 3);
  assert(
    svg !== plots["policy-000000050.svg"].replace("50 steps", "100 steps"),
  );
});

Deno.test("a run with images is the run without them, bit for bit", async () => {
  const plain = await train("plain", ...PENDULUM);
  assert(!existsSync(`${plain}/plots`));
  assertEquals(outcomeOf(drawn), outcomeOf(plain));
});

Deno.test("an evaluation at the end alone is drawn, discrete actions too", async () => {
  const run = await train(
    "discrete",
    "--env=CartPole-v1",
    "--set=evaluationInterval=0",
    DRAWN,
  );
  const plots = plotsOf(run);
  assertEquals(Object.keys(plots), ["policy-000000120.svg"]);
  assertStringIncludes(plots["policy-000000120.svg"], "of the samples are");
});

Deno.test("masked actions are drawn by the masks of the first states", async () => {
  const kwargs = '{"masked":true,"actionSpace":{"type":"discrete","n":4}}';
  const run = await train(
    "masked",
    "--env=Identity-v0",
    `--set=envKwargs=${kwargs}`,
    "--set=evaluationInterval=0",
    DRAWN,
  );
  assertStringIncludes(plotsOf(run)["policy-000000120.svg"], "of the samples");
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
