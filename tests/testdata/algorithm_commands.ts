/** Runs of every algorithm, which are trained, resumed, evaluated, played and exported. */
import type { ALGORITHMS } from "@bellman/runs/settings";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  assertResumes,
  BOX_ONLY,
  runCommand,
  smallSettings,
  trainWell,
} from "../runs.ts";

/** Environments, and settings that make another kind of agent. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "discrete": ["env=CartPole-v1"],
  "box": ["env=Pendulum-v1"],
  "recurrent, discrete": ["env=CartPole-v1", "network=lstm", "lstmSize=8"],
  "recurrent, box": ["env=Pendulum-v1", "network=lnlstm", "lstmSize=8"],
  "replay by priorities": ["env=CartPole-v1", "replay=proportional"],
  "masked": ["env=Identity-v0", 'envKwargs={"masked":true}'],
};

/** Tells whether an algorithm has what a kind sets. */
function isOf(
  { meta: { name, schema: { properties }, isGreedy } }:
    (typeof ALGORITHMS)[number],
  kind: readonly string[],
): boolean {
  const takes = (env: string) =>
    env === "Pendulum-v1" ? !isGreedy : !BOX_ONLY.includes(name);
  return kind.every((it) => {
    const [key, value] = it.split("=");
    const values = properties[key]?.enum as string[] | undefined;
    if (key === "env") return takes(value);
    return key === "envKwargs" || key === "lstmSize" ||
      values?.includes(value) === true;
  });
}

/** Kinds of agents that an algorithm makes. */
export function kindsOf(definition: (typeof ALGORITHMS)[number]): string[] {
  return Object.keys(KINDS).filter((kind) => isOf(definition, KINDS[kind]));
}

/** Tests the commands with a kind of agent of an algorithm. */
export function testCommands(
  definition: (typeof ALGORITHMS)[number],
  kind: string,
): void {
  const { name, isGreedy } = definition.meta, settings = KINDS[kind];
  Deno.test(`a run of ${name} is resumed, evaluated, played and exported: ${kind}`, async () => {
    const root = await Deno.makeTempDir({ prefix: "bellman-commands-" });
    try {
      const run = `${root}/run`;
      const all = [
        ...["maxEpisodeSteps=30", "evaluationEpisodes=2"],
        "checkpointInterval=80",
        ...smallSettings(definition),
        ...settings,
      ];
      const sets = all.map((it) => `--set=${it}`);
      await trainWell([
        ...[name, "--steps=240", "--quiet", `--out=${run}`],
        ...sets,
      ]);
      await assertResumes(run, 80);

      const evaluate = async (...options: string[]) => {
        const { code, out, err } = await runCommand(
          ["eval", run, "--episodes=2", "--json", ...options],
        );
        assertEquals(code, 0, err);
        return JSON.parse(out).returns as number[];
      };
      const returns = await evaluate();
      assertEquals(returns.length, 2);
      // The best action by values is the only one.
      if (!isGreedy) {
        assert(String(await evaluate("--stochastic")) !== String(returns));
      }

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
