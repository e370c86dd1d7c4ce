/** Signals to runs whose environment hangs, with real processes. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runProcess, trainProcess } from "./runs.ts";
import { isGone } from "../envs/workers/processes/testdata/processes.ts";

const FAILING = import.meta.resolve(
  "../envs/workers/testdata/failing_env.ts",
);

/** Where an environment hangs, and in which copies of it. */
interface Hang {
  algorithm?: "a2c" | "acktr";
  vectorization: string;
  where: string;
  isEvaluation?: boolean;
  /** How long the run is. */
  steps?: number;
  /** Steps between evaluations; 0 for one at the end alone. */
  interval?: number;
  /** More of how the environment fails. */
  failing?: Record<string, unknown>;
}

/** A run whose environment hangs, once it does, and the process it hangs in. */
async function startHanging(
  dir: string,
  {
    algorithm = "a2c",
    vectorization,
    where,
    isEvaluation = false,
    steps = 4000,
    interval = 100,
    failing,
  }: Hang,
): Promise<{ run: Deno.ChildProcess; host: number }> {
  const sign = `${dir}/sign`;
  const kwargs = (isHung: boolean) =>
    JSON.stringify({ where: isHung ? where : "nowhere", sign, ...failing });
  const run = trainProcess([
    ...[algorithm, "--env=Failing-v0", "--backend=cpu", "--quiet"],
    ...["--unchecked", `--set=envModules=[${FAILING}]`, "--set=numEnvs=2"],
    ...[`--set=evaluationInterval=${interval}`, `--steps=${steps}`],
    ...["--set=evaluationEpisodes=2", `--out=${dir}/run`],
    `--set=vectorization=${vectorization}`,
    `--set=envKwargs=${kwargs(!isEvaluation)}`,
    `--set=evaluationEnvKwargs=${kwargs(isEvaluation)}`,
  ]).spawn();
  // Nobody reads what it prints.
  run.stdout.cancel();
  for (const end = performance.now() + 60_000; performance.now() < end;) {
    const host = await Deno.readTextFile(sign).catch(() => "");
    if (host !== "") return { run, host: Number(host) };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  run.kill("SIGKILL");
  throw new Error(new TextDecoder().decode((await run.output()).stderr));
}

/** Whether a process has ended by a time. */
async function endsWithin(
  { status }: Deno.ChildProcess,
  ms: number,
): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const hasEnded = await Promise.race([status.then(() => true), late]);
  clearTimeout(timer);
  return hasEnded;
}

const HANGS: readonly [Deno.Signal, Hang][] = [
  ["SIGINT", { vectorization: "sync", where: "constructor" }],
  ["SIGTERM", { vectorization: "sync", where: "step" }],
  ["SIGINT", { vectorization: "sync", where: "reset", isEvaluation: true }],
  [
    "SIGINT",
    { algorithm: "acktr", vectorization: "workers", where: "step" },
  ],
  ["SIGINT", { vectorization: "subprocesses", where: "reset" }],
];

for (const [signal, hang] of HANGS) {
  const { vectorization, where, isEvaluation } = hang;
  const when = isEvaluation ? `${where} in an evaluation` : where;
  Deno.test(
    `a second ${signal} ends a run that hangs in its ${when}: ${vectorization}`,
    {
      ignore: Deno.build.os === "windows",
    },
    async () => {
      const dir = await Deno.makeTempDir();
      const { run, host } = await startHanging(dir, hang);
      try {
        run.kill(signal);
        // Before a run has begun there is nothing to save.
        if (!await endsWithin(run, 300)) {
          run.kill(signal);
          assert(await endsWithin(run, 3_000));
        }
        assertEquals((await run.status).signal, signal);
        assert(await isGone(host));
      } finally {
        await endsWithin(run, 0) || run.kill("SIGKILL");
        await run.stderr.cancel();
        await Deno.remove(dir, { recursive: true });
      }
    },
  );
}

Deno.test("the first signal is told even where the environment hangs", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const dir = await Deno.makeTempDir();
  const hang = { vectorization: "sync", where: "step" };
  const { run } = await startHanging(dir, hang);
  run.kill("SIGINT");
  const told = await run.stderr.pipeThrough(new TextDecoderStream())
    .getReader().read();
  run.kill("SIGINT");
  await run.status;
  assertStringIncludes(told.value ?? "", "The run stops when its environment");
  await Deno.remove(dir, { recursive: true });
});

Deno.test(
  "the first signal ends a run in its last evaluation, which is made up for",
  {
    ignore: Deno.build.os === "windows",
  },
  async () => {
    const dir = await Deno.makeTempDir();
    const { run } = await startHanging(dir, {
      vectorization: "sync",
      where: "step",
      isEvaluation: true,
      failing: { how: "pause", once: true },
      steps: 200,
      interval: 0,
    });
    run.kill("SIGINT");
    const { code, stderr } = await run.output();
    const said = new TextDecoder().decode(stderr);
    assertEquals(code, 130, said);
    assertStringIncludes(said, "a second Ctrl-C ends the run at once");
    const resumed = await runProcess(
      ["train", "--resume", `${dir}/run`, "--quiet", "--trust"],
    );
    assertEquals(resumed.code, 0, resumed.err);
    assertStringIncludes(resumed.out, "Last agent (step 200)");
    await Deno.remove(dir, { recursive: true });
  },
);
