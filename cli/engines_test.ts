import { isXlaInstalled } from "@bellman/compute/xla";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import { capture } from "./testdata/capture.ts";
import { leaveUnevaluated } from "../tests/runs.ts";
import { resumeEqual } from "./testdata/resume_equal.ts";
import { testsWith } from "../tests/testdata/tests_with.ts";
import { runDeno } from "../tests/testdata/run_deno.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-engines-" });
const test = testsWith("XLA", isXlaInstalled());

async function train(...args: string[]) {
  const small = ["--set=numEnvs=4", "--set=evaluationEpisodes=2", "--quiet"];
  return await capture("train", ...small, ...args);
}

test("a run with XLA names its plugin and device, and resumes bit for bit", async () => {
  const whole = `${dir}/whole`, cut = `${dir}/cut`;
  const steps = ["--steps=800", "--set=checkpointInterval=400"];
  for (const out of [whole, cut]) {
    const { code, err } = await train("--engine=xla", ...steps, `--out=${out}`);
    assertEquals(code, 0, err);
  }
  const config = await Deno.readTextFile(`${whole}/config.yaml`);
  assertStringIncludes(config, "engine: xla\n");
  assertMatch(config, /plugin: XLA \(PJRT \d+\.\d+\) on \w+\n/);
  await resumeEqual(cut, whole);
});

test("a run is resumed and evaluated with the engine that is named", async () => {
  const out = `${dir}/onnx`;
  const { code, err } = await train("--steps=400", `--out=${out}`);
  assertEquals(code, 0, err);
  const play = ["eval", out, "--episodes=2", "--json"];
  const results: unknown[] = [];
  // One after another: the engine is the process's.
  for (const more of [[], ["--engine=xla"], ["--engine=eager"]]) {
    const { code, out, err } = await capture(...play, ...more);
    assertEquals(code, 0, err);
    results.push(JSON.parse(out));
  }
  assertEquals(results, results.map(() => results[0]));
  leaveUnevaluated(out);
  const resumed = await capture("train", "--resume", out, "--engine=xla");
  assertEquals(resumed.code, 0, resumed.err);
  assertStringIncludes(resumed.out, "Engine: compiled, by XLA");
});

Deno.test("a run of another plugin is refused unless an engine is named", async () => {
  const plugin = "XLA (PJRT 0.1) on a chip";
  const out = `${dir}/other`;
  const options = ["--steps=40", `--set=plugin=${plugin}`, `--out=${out}`];
  const refused = await train(...options);
  assertEquals(refused.code, 2);
  assertStringIncludes(
    refused.err,
    `the run was made with ${plugin}; name an engine with --engine to take it all the same`,
  );
  const named = await train(...options, "--engine=onnx");
  assertEquals(named.code, 0, named.err);
});

/** A library with the table of an API from before the oldest that is known. */
const OLD_API = `
  struct { long size; void *extension; long version_size; void *more;
           int major, minor; void *functions[200]; }
    api = { sizeof(api), 0, 24, 0, 0, 60 };
  void *GetPjrtApi(void) { return &api; }
`;

/** Returns the path of that library; undefined where there is no compiler. */
async function oldPlugin(): Promise<string | undefined> {
  const path = `${dir}/old.so`;
  await Deno.writeTextFile(`${dir}/old.c`, OLD_API);
  const args = ["-shared", "-fPIC", "-o", path, `${dir}/old.c`];
  try {
    const { success } = await new Deno.Command("cc", { args }).output();
    return success ? path : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

Deno.test("without a plugin that can be used a run ends in one line [Linux]", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const text = `${dir}/text.so`, old = await oldPlugin();
  await Deno.writeTextFile(text, "no library");
  const cases: [plugin: string, problem: string][] = [
    ["", "Cannot find an XLA plugin for cpu: run '"],
    [`${text}.gone`, `Cannot find the XLA plugin '${text}.gone'`],
    [text, `Cannot load the XLA plugin '${text}': file too short`],
  ];
  if (old !== undefined) {
    const problem = "it has PJRT API 0.60, expected 0.81 or newer";
    cases.push([old, `Cannot use the XLA plugin '${old}': ${problem}`]);
  }
  const main = new URL("main.ts", import.meta.url).pathname;
  const out = `${dir}/unusable`;
  for (const [BELLMAN_XLA_PLUGIN, problem] of cases) {
    const { code, err: error } = await runDeno([
      ...["-A", main, "train", "--engine=xla", "--steps=40", `--out=${out}`],
    ], { env: { BELLMAN_CACHE: `${dir}/none`, BELLMAN_XLA_PLUGIN } });
    const start = "error: Cannot use the engine 'xla': XLA cannot be loaded: ";
    assertEquals([code, error.trimEnd().includes("\n")], [2, false], error);
    assertStringIncludes(error, start + problem);
    // Nothing is left half-made.
    const made = [...Deno.readDirSync(dir)].map(({ name }) => name);
    assertEquals(made.includes("unusable") || made.includes("none"), false);
  }
});

/** An algorithm that takes 16 TiB, in a process of its own. */
async function trainGreedy(out: string, ...permissions: string[]) {
  const [main, module] = ["main.ts", "testdata/greedy.ts"]
    .map((it) => new URL(it, import.meta.url).pathname);
  const { code, err } = await runDeno([
    ...["-A", ...permissions, main, "train", "greedy", "--engine=xla"],
    ...["--steps=400", "--set=numEnvs=4", "--set=numSteps=4"],
    ...[`--set=algorithmModules=[${module}]`, "--quiet", `--out=${out}`],
  ]);
  return { code, error: err.trimEnd() };
}

test("a run that the device has no memory for is refused in one line", async () => {
  const out = `${dir}/greedy`;
  const { code, error } = await trainGreedy(out);
  assertEquals([code, error.includes("\n")], [2, false], error);
  assertMatch(
    error,
    /^error: Cannot run the update of Greedy, which takes 16,400 GiB of memory: RESOURCE_EXHAUSTED: the device has [\d.]+ GiB: take fewer environments, smaller batches or a smaller network$/,
  );
  assertEquals(existsSync(out), false);
});

test("a run whose memory runs out ends in one line", async () => {
  // Without the permission, nobody knows how much there is.
  const { code, error } = await trainGreedy(
    `${dir}/greedier`,
    "--deny-sys=systemMemoryInfo",
  );
  assertEquals([code, error.includes("\n")], [2, false], error);
  assertMatch(
    error,
    /^error: The run of greedy on CartPole-v1 failed after 16 steps: Cannot run the update of Greedy, which takes 16,400 GiB of memory: RESOURCE_EXHAUSTED: Out of memory allocating \d+ bytes: take fewer environments, smaller batches or a smaller network/,
  );
});
