/** Every algorithm trains, resumes, evaluates, plays and exports. */
import { ALGORITHMS } from "@bellman/cli";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertResumes, runCommand, trainWell } from "./runs.ts";

/** Small settings of each algorithm. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  a2c: ["numSteps=5", "lstmSize=4"],
  acer: ["numSteps=5", "lstmSize=4", "bufferSize=200", "replayStart=40"],
  acktr: ["numSteps=5", "lstmSize=4", "coldUpdates=2", "invertEvery=3"],
  sac: ["batchSize=8", "bufferSize=400", "learningStarts=20"],
};

/** Environments, and settings that make another kind of agent. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "discrete": ["env=CartPole-v1"],
  "box": ["env=Pendulum-v1"],
  "recurrent, discrete": ["env=CartPole-v1", "network=lstm"],
  "recurrent, box": ["env=Pendulum-v1", "network=lnlstm"],
  "replay by priorities": ["env=CartPole-v1", "replay=proportional"],
};

/** Tells whether an algorithm has what a kind sets. */
function isOf(name: string, kind: readonly string[]): boolean {
  const { properties } = ALGORITHMS.find((it) => it.name === name)!.schema;
  return kind.every((it) => {
    const [key, value] = it.split("=");
    const values = properties[key]?.enum as string[] | undefined;
    return key === "env" || values?.includes(value) === true;
  });
}

for (const { name } of ALGORITHMS) {
  for (const [kind, settings] of Object.entries(KINDS)) {
    if (!isOf(name, settings)) continue;
    Deno.test(`a run of ${name} is resumed, evaluated, played and exported: ${kind}`, async () => {
      const root = await Deno.makeTempDir({ prefix: "bellman-commands-" });
      try {
        const run = `${root}/run`;
        const all = [
          ...["numEnvs=2", "maxEpisodeSteps=30", "hiddenSizes=[8]"],
          ...["evaluationEpisodes=2", "checkpointInterval=160"],
          ...SETTINGS[name],
          ...settings,
        ];
        const sets = all.map((it) => `--set=${it}`);
        await trainWell([
          ...[name, "--steps=480", "--quiet", `--out=${run}`],
          ...sets,
        ]);
        await assertResumes(run, 160);

        const evaluate = async (...options: string[]) => {
          const { code, out, err } = await runCommand(
            ["eval", run, "--episodes=3", "--json", ...options],
          );
          assertEquals(code, 0, err);
          return JSON.parse(out).returns as number[];
        };
        const returns = await evaluate();
        assertEquals(returns.length, 3);
        assertEquals(await evaluate(), returns);
        assert(String(await evaluate("--stochastic")) !== String(returns));

        const gif = `${root}/play.gif`;
        const played = await runCommand(["play", run, "--gif", gif]);
        assertEquals(played.code, 0, played.err);
        assert(Deno.statSync(gif).size > 1000);

        const file = `${root}/exported.onnx`;
        const exported = await runCommand(["export", run, "--out", file]);
        assertEquals(exported.code, 0, exported.err);
        assertStringIncludes(exported.out, `${name} on `);
        assertEquals(
          Deno.readFileSync(file),
          Deno.readFileSync(`${run}/policy.onnx`),
        );
      } finally {
        await Deno.remove(root, { recursive: true });
      }
    });
  }
}
