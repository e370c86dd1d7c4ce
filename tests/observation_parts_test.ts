/** Environments whose observations have parts, from the command line. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { capture } from "../cli/testdata/capture.ts";
import { withFolder } from "./testdata/with_folder.ts";

const MODULE = new URL("testdata/parts_env.ts", import.meta.url).pathname;

const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  ppo: ["numSteps=16", "minibatches=2", "epochs=1"],
  sac: ["bufferSize=200", "learningStarts=20", "batchSize=8"],
};

/** Settings of a short run in parts. */
function settings(algorithm: string): string[] {
  const few = ["numEnvs=2", "hiddenSizes=[8]", "evaluationEpisodes=1"];
  return [
    `envModules=[${MODULE}]`,
    "partNetworks={camera: flat, turning: mlp}",
    "evaluationInterval=32",
    "normalizeObservation=true",
    ...few,
    ...ALGORITHMS[algorithm],
  ].map((it) => `--set=${it}`);
}

for (const algorithm of Object.keys(ALGORITHMS)) {
  Deno.test(`${algorithm} trains, resumes, plays and exports in parts`, () =>
    withFolder(async (folder) => {
      const train = (out: string, ...more: string[]) =>
        capture(
          ...["train", algorithm, "--env=Parts-v0"],
          ...settings(algorithm),
          ...["--out", `${folder}/${out}`, ...more],
        );
      const whole = await train("whole", "--steps=96");
      assertEquals(whole.code, 0, whole.err);
      const first = await train("half", "--steps=64");
      assertEquals(first.code, 0, first.err);
      const resumed = await capture(
        "train",
        `--resume=${folder}/half`,
        "--steps=96",
      );
      assertEquals(resumed.code, 0, resumed.err);
      const returns = async (out: string): Promise<number[]> => {
        const path = `${folder}/${out}`;
        const judged = await capture("eval", path, "--episodes=3", "--json");
        assertEquals(judged.code, 0, judged.err);
        return JSON.parse(judged.out).returns;
      };
      const found = await returns("half");
      assertEquals(found.length, 3);
      // Rates of the other depend on the number of steps that are planned.
      if (algorithm === "sac") assertEquals(found, await returns("whole"));

      const played = await capture(
        ...["play", `${folder}/whole`, "--episodes=1"],
        ...["--gif", `${folder}/play.gif`],
      );
      assertEquals(played.code, 0, played.err);
      const exported = await capture(
        ...["export", `${folder}/whole`, "--out", `${folder}/policy.onnx`],
      );
      assertEquals(exported.code, 0, exported.err);
      const file = await Deno.readFile(`${folder}/policy.onnx`);
      const text = new TextDecoder("latin1").decode(file);
      for (const part of ["camera", "cart", "turning"]) {
        assertStringIncludes(text, `observation.${part}`);
      }
      assertStringIncludes(text, "cart: within the file: (x - mean)");
    }));
}

Deno.test("where parts of flattened observations lie is told in report and file", () =>
  withFolder(async (folder) => {
    const { code, err } = await capture(
      ...["train", "ppo", "--env=Nested-v0", "--backend=cpu", "--steps=32"],
      ...[...settings("ppo"), `--out=${folder}`]
        .filter((it) => !it.includes("partNetworks")),
    );
    assertEquals(code, 0, err);
    const report = await Deno.readTextFile(`${folder}/report.html`);
    assertStringIncludes(report, "Flattened observations");
    const file = await Deno.readFile(`${folder}/policy.onnx`);
    const text = new TextDecoder("latin1").decode(file);
    assertStringIncludes(text, "flattened observations");
    for (const it of [report, text]) {
      assertStringIncludes(it, "0 [0:2], 1.angle [2:3], 1.turning [3:4]");
    }
  }));

Deno.test("what is wrong with networks of parts is told in one line", async () => {
  const wrong = {
    "partNetworks={cars: mlp}":
      "Unknown part 'cars' in partNetworks: did you mean 'cart'?",
    "partNetworks={cart: lstm}":
      "Cannot use the recurrent network 'lstm' for the part 'cart': expected one without a state, as mlp or cnn",
    "partNetworks={cart: mpl}": "mpl",
    "frameStack=2": "stack",
  };
  for (const [setting, message] of Object.entries(wrong)) {
    const { code, err } = await capture(
      ...["train", "ppo", "--env=Parts-v0", "--backend=cpu", "--steps=64"],
      ...[`--set=envModules=[${MODULE}]`, `--set=${setting}`],
    );
    assertEquals(code, 2, err);
    assertStringIncludes(err, message);
    assertEquals(err.trim().split("\n").length, 1, err);
  }
});
