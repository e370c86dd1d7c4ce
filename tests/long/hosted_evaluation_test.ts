/** Evaluations where the copies live in threads and processes, which fail. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Captured } from "../../cli/testdata/capture.ts";
import { runProcess } from "../runs.ts";

const FAILING = import.meta.resolve(
  "../../envs/workers/testdata/failing_env.ts",
);
const dir = await Deno.makeTempDir({ prefix: "bellman-evaluations-" });

/** Trains a few steps, with evaluations that fail as they are told to. */
function train(
  name: string,
  vectorization: string,
  failing: Record<string, unknown> = { where: "nowhere" },
): Promise<Captured> {
  const kwargs = { sign: `${dir}/${name}.sign`, ...failing };
  return runProcess([
    ...["train", "a2c", "--env=Failing-v0", "--backend=cpu", "--quiet"],
    "--unchecked",
    ...[`--set=envModules=[${FAILING}]`, "--set=numEnvs=2", "--steps=600"],
    ...["--set=evaluationInterval=200", "--set=evaluationEpisodes=6"],
    ...["--set=stepTimeout=2", `--set=vectorization=${vectorization}`],
    ...(vectorization === "sync" ? [] : ["--set=workers=2"]),
    `--set=envKwargs=${JSON.stringify({ where: "nowhere", sign: "" })}`,
    `--set=evaluationEnvKwargs=${JSON.stringify(kwargs)}`,
    `--out=${dir}/${name}`,
  ]);
}

/** The figures of a run, without the time they took. */
async function figuresOf(name: string): Promise<string[][]> {
  const text = await Deno.readTextFile(`${dir}/${name}/progress.csv`);
  const rows = text.trimEnd().split("\n").map((it) => it.split(","));
  const clocks = rows[0].map((it) => /second/.test(it));
  return rows.map((row) => row.filter((_, i) => !clocks[i]));
}

/** The lines about the agents that were evaluated in the end. */
function agentsIn({ out }: Captured): string[] {
  return out.split("\n").filter((it) => /agent \(step/.test(it));
}

const plain = await train("sync", "sync");
assertEquals(plain.code, 0, plain.err);

for (const where of ["workers", "subprocesses"]) {
  Deno.test(`evaluations in ${where} have the figures of those in this thread`, async () => {
    const run = await train(where, where);
    assertEquals(run.code, 0, run.err);
    assertEquals(await figuresOf(where), await figuresOf("sync"));
    assertEquals(agentsIn(run), agentsIn(plain));
    const evaluate = (name: string) =>
      runProcess(
        ["eval", `${dir}/${name}`, "--seed=5", "--json", "--trust"],
      );
    const [own, other] = [await evaluate(where), await evaluate("sync")];
    assertEquals(own.code, 0, own.err);
    const returns = ({ out }: Captured) => JSON.parse(out).returns;
    assertEquals(returns(own), returns(other));
  });

  for (const how of ["hang", where === "workers" ? "throw" : "exit"]) {
    Deno.test(`evaluations in ${where} have these figures where one fails: ${how}`, async () => {
      const name = `${where}-${how}`;
      const failing = { where: "step", how, after: 30, once: true };
      const run = await train(name, where, failing);
      assertEquals(run.code, 0, run.err);
      assertStringIncludes(run.err, "Evaluation: Restarting environments ");
      assertEquals(await figuresOf(name), await figuresOf("sync"));
      assertEquals(agentsIn(run), agentsIn(plain));
    });
  }
}

Deno.test("an evaluation that always fails ends the run with one line", async () => {
  const failing = { where: "step", how: "exit", after: 5 };
  const run = await train("broken", "subprocesses", failing);
  assertEquals(run.code, 1, run.err);
  const [last, line] = run.err.trimEnd().split("\n").reverse();
  assertStringIncludes(
    last,
    ": Cannot evaluate in environment ",
  );
  assertStringIncludes(
    last,
    "error: The run of a2c on Failing-v0 failed after ",
  );
  assertStringIncludes(last, "resume from step ");
  assertStringIncludes(line, "Evaluation: Restarting environments ");
});

Deno.test("an evaluation that cannot be started is told before anything is written", async () => {
  const failing = { where: "constructor", how: "throw" };
  const run = await train("unstarted", "subprocesses", failing);
  assertEquals(run.code, 2);
  assertEquals(
    run.err,
    "error: Cannot start environments 0 to 2: the pole is lost\n",
  );
  assert(![...Deno.readDirSync(dir)].some((it) => it.name === "unstarted"));
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
