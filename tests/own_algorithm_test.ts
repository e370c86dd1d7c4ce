/** An algorithm of one's own does all that the command line offers. */
import { registerAlgorithm } from "@bellman/cli";
import { assert, assertEquals } from "@std/assert";
import { counting } from "../algorithms/agent/testdata/counting.ts";
import { assertResumes, runCommand, trainWell } from "./runs.ts";

registerAlgorithm(counting());

/** Runs a command that must go well, and gives back what it prints. */
async function output(args: readonly string[]): Promise<string> {
  const { code, out, err } = await runCommand(args);
  assertEquals(code, 0, err);
  return out;
}

for (const memory of ["rollout", "replay"]) {
  Deno.test(`an own algorithm with a ${memory} trains, resumes, evaluates and exports`, async () => {
    const root = await Deno.makeTempDir({ prefix: "bellman-own-" });
    const dir = `${root}/run`;
    try {
      await trainWell([
        "counting",
        "--env=CartPole-v1",
        `--set=memory=${memory}`,
        "--set=checkpointInterval=20",
        "--set=logInterval=1",
        "--steps=60",
        "--quiet",
        `--out=${dir}`,
      ]);
      await assertResumes(dir, 20);
      await output(["eval", dir, "--episodes=2"]);
      await output(["export", dir, `--out=${root}/policy.onnx`]);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}

Deno.test("lists and help know an own algorithm from its definition", async () => {
  assert((await output(["list"])).includes("Adds up rewards"));
  const help = await output(["train", "counting", "--help"]);
  assert(help.includes("gradientSteps"), help);
});
