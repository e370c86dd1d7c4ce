/** An algorithm of one's own does all that the command line offers. */
import { registerAlgorithm } from "@bellman/runs/settings";
import { isXlaInstalled } from "@bellman/compute/xla";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
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

const dir = await Deno.makeTempDir({ prefix: "bellman-own-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

/** Writes a module whose algorithm is A2C with an update of its own. */
async function writeUpdate(name: string, lines: string): Promise<string> {
  const path = `${dir}/${name}.ts`;
  const [a2c, cli, tfjs] = [
    "@bellman/a2c",
    "@bellman/runs/settings",
    "@tensorflow/tfjs",
  ]
    .map((it) => import.meta.resolve(it));
  await Deno.writeTextFile(
    path,
    `import { a2c } from "${a2c}";
import { registerAlgorithm } from "${cli}";
import * as tf from "${tfjs}";

const learn = (state, { observations, returns, value }) => {
${lines}
};
registerAlgorithm({
  meta: { ...a2c.meta, name: "${name}" },
  build(config, context) {
    return { ...a2c.build(config, context), learn: () => learn };
  },
});
`,
  );
  return path;
}

for (const engine of ["onnx", "xla", "eager"]) {
  Deno.test({
    name: `a mistake in an update names its file and line (${engine})${
      engine === "xla" ? " [XLA]" : ""
    }`,
    ignore: engine === "xla" && !isXlaInstalled(),
    async fn() {
      const mistakes = {
        shapes: ["const y = tf.add(observations, returns);", "Operands could"],
        missing: ["const y = tf.square(value);", "'square' must be a "],
      };
      for (const [kind, [line, why]] of Object.entries(mistakes)) {
        const name = `${kind}-${engine}`;
        const file = await writeUpdate(name, line);
        const { code, err } = await runCommand([
          ...["train", name, `--set=algorithmModules=['${file}']`, "--quiet"],
          ...[`--engine=${engine}`, "--steps=200", "--preset=none"],
          `--out=${dir}/${name}-run`,
        ]);
        assertEquals(code, engine === "eager" ? 1 : 2, err);
        assertEquals(err.trim().split("\n").length, 1, err);
        const verb = engine === "eager" ? "run" : "compile";
        assertStringIncludes(
          err,
          `Cannot ${verb} the update of A2C at ${name}.ts:6: `,
        );
        assertStringIncludes(err, why);
      }
    },
  });
}

Deno.test("a module that registers nothing is told, where it is not needed", async () => {
  const file = `${dir}/idle.ts`;
  await Deno.writeTextFile(file, "export const algorithm = {};");
  const { code, err } = await runCommand([
    ...["train", `--set=algorithmModules=['${file}']`, "--quiet"],
    ...["--steps=200", `--out=${dir}/idle`],
  ]);
  assertEquals(code, 0, err);
  assertStringIncludes(
    err,
    `${file}, which algorithmModules names, registers nothing: expected a call of registerAlgorithm, registerNetwork or registerLogger\n`,
  );
});

/** Trains with a module, and gives back the one line of its failure. */
async function failureOf(name: string, ...args: string[]): Promise<string> {
  const { code, err } = await runCommand([
    ...["train", ...args, "--quiet", "--steps=50", "--preset=none"],
    `--out=${dir}/${name}-run`,
  ]);
  assertNotEquals(code, 0);
  assertEquals(err.trim().split("\n").length, 1, err);
  return err.trim();
}

Deno.test("a mistake in build names its file and line, and one module needs no list", async () => {
  const file = await writeUpdate("unbuilt", "return value.none;");
  const text = await Deno.readTextFile(file);
  const broken = text.replace("return {", "config.nothing.at();\n    return {");
  await Deno.writeTextFile(file, broken);
  const line = broken.split("\n").findIndex((it) => it.includes("nothing"));
  assertEquals(
    await failureOf("unbuilt", "unbuilt", `--set=algorithmModules=${file}`),
    `error: Cannot read properties of undefined (reading 'at') (unbuilt.ts:${
      line + 1
    })`,
  );
});

for (const vectorization of ["sync", "workers"]) {
  Deno.test(`a mistake in an environment names its file and line (${vectorization})`, async () => {
    const name = `Broken${vectorization}-v0`, file = `${dir}/${name}.ts`;
    await Deno.writeTextFile(
      file,
      `import { ChainEnv, register } from "${
        import.meta.resolve("@bellman/envs")
      }";
class Broken extends ChainEnv {
  constructor() {
    super();
    this.nothing.at();
  }
}
register({ id: "${name}", make: () => new Broken() });
`,
    );
    const failure = await failureOf(
      name,
      ...["a2c", `--env=${name}`, `--set=envModules=${file}`],
      `--set=vectorization=${vectorization}`,
    );
    assertMatch(failure, /\(reading 'at'\) \(Broken\w+-v0\.ts:5\)$/);
  });
}
