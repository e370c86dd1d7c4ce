/** The guide's loggers: MLflow gets each row once, and the client of Weights & Biases gets all of them. */
import { readProgress } from "@bellman/training";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { KILLER, killMidway, runProcess, trainWell } from "./runs.ts";
import { guideCode } from "./testdata/guide_code.ts";
import { testsWith } from "./testdata/tests_with.ts";
import { ROOT } from "./tools/packages.ts";

// Inside of the workspace, where its packages have their names.
const dir = await Deno.makeTempDir({ dir: ROOT, prefix: ".examples-loggers-" });
/** Folder of the runs: code beside a run needs a word. */
const runs = await Deno.makeTempDir({ prefix: "bellman-loggers-" });
globalThis.addEventListener("unload", () => {
  for (const it of [dir, runs]) Deno.removeSync(it, { recursive: true });
});

interface Metric {
  key: string;
  value: number;
  step: number;
  timestamp: number;
}

/** Run as MLflow keeps it. */
interface Kept {
  name: string;
  params: Record<string, string>;
  metrics: Metric[];
  status: string;
}

/** Server with the calls of MLflow's REST interface that the guide makes, and MLflow's limits. */
class Mlflow {
  readonly runs: Kept[] = [];
  readonly #server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      const answer = this.#answer(pathname, await request.json());
      return Response.json(answer ?? { error_code: "BAD_REQUEST" }, {
        status: answer === undefined ? 400 : 200,
      });
    },
  );

  get address(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  // deno-lint-ignore no-explicit-any
  #answer(path: string, body: any): object | undefined {
    const run = this.runs[Number(body.run_id)];
    switch (path) {
      case "/api/2.0/mlflow/runs/create": {
        if (body.experiment_id !== "0") return;
        const started = { params: {}, metrics: [], status: "RUNNING" };
        const count = this.runs.push({ name: body.run_name, ...started });
        return { run: { info: { run_id: String(count - 1) } } };
      }
      case "/api/2.0/mlflow/runs/log-batch": {
        const { params = [], metrics = [] } = body;
        if (params.length > 100 || metrics.length > 1000) return;
        for (const { key, value } of params) run.params[key] = value;
        run.metrics.push(...metrics);
        return {};
      }
      case "/api/2.0/mlflow/runs/update":
        run.status = body.status;
        return { run_info: {} };
    }
  }

  close(): Promise<void> {
    return this.#server.shutdown();
  }
}

const module = `${dir}/mlflow.ts`;
Deno.writeTextFileSync(module, guideCode("loggers", "## MLflow"));
const ARGS = [
  ...["a2c", "--env=CartPole-v1", "--quiet", "--steps=6000"],
  ...["--set=checkpointInterval=1000", "--set=evaluationInterval=2000"],
  "--set=evaluationEpisodes=2",
];

/** A statistic by steps, as a run's `progress.csv` has it. */
const recorded = (run: string, name: string) =>
  readProgress(`${run}/progress.csv`)
    .filter(({ statistics }) => Number.isFinite(statistics[name]))
    .map(({ step, statistics }) => [step, statistics[name]]);

/** Returns how to add tests that need a program. */
async function programTest(program: string): Promise<typeof curlTest> {
  const hasIt = await new Deno.Command(program, { args: ["--version"] })
    .output().then(({ success }) => success, () => false);
  return testsWith(program, hasIt);
}

const curlTest: ReturnType<typeof testsWith> = await programTest("curl");
const pythonTest = await programTest("python3");

curlTest(
  "MLflow gets each row of a run once, though the run is killed",
  async () => {
    const mlflow = new Mlflow();
    const env = { MLFLOW_TRACKING_URI: mlflow.address };
    const run = `${runs}/killed`;
    const modules = `--set=algorithmModules=[${module}, ${KILLER}]`;
    await killMidway([...ARGS, modules, `--out=${run}`], 3500, env);
    const { metrics, status } = mlflow.runs[0];
    // What was logged after the last checkpoint was not sent.
    const last = Math.max(...metrics.map(({ step }) => step));
    assert(last > 2000 && last <= 3000, `${last}`);
    assertEquals(status, "RUNNING");
    const { code, err } = await runProcess(
      ["train", "--resume", run, "--quiet"],
      { env },
    );
    assertEquals(code, 0, err);
    await mlflow.close();

    const [kept, ...others] = mlflow.runs;
    assertEquals(others, []);
    assertEquals([kept.name, kept.status], [run, "FINISHED"]);
    assertEquals(kept.params.env, "CartPole-v1");
    assertEquals(kept.params.hiddenSizes, "[64]");
    for (
      const name of ["train/loss", "eval/return_mean", "rollout/return_mean"]
    ) {
      const sent = kept.metrics.filter(({ key }) => key === name);
      const rows = recorded(run, name);
      assert(rows.length >= 3, name);
      assertEquals(sent.map(({ step, value }) => [step, value]), rows, name);
      assert(sent.every(({ timestamp }) => timestamp > 1.7e12));
    }
  },
);

curlTest("a run without MLflow's server ends with a line", async () => {
  const { code, err } = await runProcess(
    ["train", ...ARGS, `--set=algorithmModules=[${module}]`, `--out=${dir}/no`],
    { env: { MLFLOW_TRACKING_URI: "http://127.0.0.1:9" } },
  );
  assertEquals(code, 1, err);
  assertStringIncludes(err, "Cannot log to MLflow: curl: (7)");
  assertEquals(err.trim().split("\n").length, 1, err);
});

/** Stands for the client of Weights & Biases: what it is given becomes lines of JSON. */
const WANDB = `
import json

class Run:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        print(json.dumps("finished"))

    def log(self, numbers, step):
        print(json.dumps([step, numbers.get("train/loss"), numbers.get("eval/return_mean")]))

def init(project, name, config):
    print(json.dumps([project, name, config]))
    return Run()
`;

pythonTest(
  "Weights & Biases gets the rows of a run by the guide's script",
  async () => {
    const run = `${dir}/run`, stubs = `${dir}/stubs`;
    await trainWell([...ARGS, `--out=${run}`]);
    await Deno.mkdir(stubs);
    await Deno.writeTextFile(`${stubs}/wandb.py`, WANDB);
    // The client brings PyYAML.
    await Deno.writeTextFile(
      `${stubs}/yaml.py`,
      "safe_load = str.splitlines\n",
    );
    const code = guideCode("loggers", "## Weights & Biases", "python");
    const { success, stdout, stderr } = await new Deno.Command("python3", {
      args: ["-c", code, run],
      env: { PYTHONPATH: stubs },
    }).output();
    const [out, err] = [stdout, stderr].map((it) =>
      new TextDecoder().decode(it)
    );
    assert(success, err);
    const [[project, name, config], ...rows] = out.trim().split("\n")
      .map((line) => JSON.parse(line));
    assertEquals([project, name], ["bellman", "run"]);
    assert(config.includes("env: CartPole-v1"), config.join("\n"));
    assertEquals(rows.pop(), "finished");
    const all = readProgress(`${run}/progress.csv`);
    assertEquals(
      rows,
      all.map(({ step, statistics }) => [
        step,
        statistics["train/loss"] ?? null,
        statistics["eval/return_mean"] ?? null,
      ]),
    );
  },
);
