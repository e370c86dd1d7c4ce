import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertRejects,
} from "@std/assert";
import { RunFailure, UsageError } from "@bellman/runs/program";
import { childrenOf } from "../../envs/workers/processes/testdata/processes.ts";
import { optunaPythons, OptunaSampler } from "./optuna.ts";
import type { SearchEvent } from "./record.ts";
import { isInSpace, type Space } from "./space.ts";
import { hasOptuna } from "./testdata/has_optuna.ts";

const ignore = !hasOptuna();

const SPACE: Space = {
  learningRate: { kind: "float", low: 1e-5, high: 0.1, log: true },
  numSteps: { kind: "int", low: 1, high: 64, log: false },
  gamma: { kind: "float", low: 0.9, high: 1, log: false, step: 0.05 },
  hiddenSizes: { kind: "choice", choices: [[8], [64, 64], null] },
};

/** Begins a study, which ends with `act`. */
async function withStudy<T>(
  sampler: "tpe" | "cmaes",
  act: (study: OptunaSampler) => Promise<T>,
): Promise<T> {
  const study = new OptunaSampler({ space: SPACE, sampler, seed: 3 });
  try {
    await study.start();
    return await act(study);
  } finally {
    await study.close();
  }
}

/**
 * Draws trials and tells how they ended, two of them at a time. The first one lies
 * outside the space; a fifth is pruned, a seventh fails.
 *
 * @param again Called before each trial with the events so far.
 */
async function draw(
  study: OptunaSampler,
  trials: number,
  again: (events: SearchEvent[]) => Promise<OptunaSampler> = () =>
    Promise.resolve(study),
): Promise<SearchEvent[]> {
  const events: SearchEvent[] = [{
    op: "begin",
    plan: {},
    sampler: "",
    scores: {},
  }];
  for (let trial = 0; trial < trials; trial++) {
    const params = trial === 0
      ? { learningRate: 1, numSteps: 5, gamma: 0.99, hiddenSizes: null }
      : await (await again(events)).ask(trial, events);
    events.push({ op: "ask", trial, params });
    const value = -Math.abs(Math.log10(Number(params.learningRate)) + 3);
    events.push({ op: "report", trial, run: 0, step: 10, value });
    if (trial === 0) continue;
    const before = trial - 1,
      report = events.findLast((it) =>
        it.op === "report" && it.trial === before
      );
    const told = (report as { value: number }).value;
    events.push(
      before % 7 === 6
        ? { op: "tell", trial: before, state: "failed", message: "" }
        : before % 5 === 4
        ? { op: "tell", trial: before, state: "pruned" }
        : { op: "tell", trial: before, state: "complete", value: told },
    );
  }
  return events;
}

for (const sampler of ["tpe", "cmaes"] as const) {
  Deno.test({
    name:
      `${sampler} draws the same trials whenever Python begins again [Optuna]`,
    ignore,
    async fn() {
      const whole = await withStudy(sampler, (study) => draw(study, 24));
      const asked = whole.filter((it) => it.op === "ask").slice(1);
      for (const { params } of asked) {
        assert(isInSpace(params, SPACE), JSON.stringify(params));
      }
      const distinct = new Set(asked.map((it) => JSON.stringify(it.params)));
      assertEquals(distinct.size, asked.length);
      const ended = await withStudy(
        sampler,
        (study) =>
          draw(study, 24, async (events) => {
            // A process that is closed is begun again at the next request.
            if (events.length % 4 === 0) await study.close();
            return study;
          }),
      );
      assertEquals(ended, whole);
    },
  });
}

Deno.test({
  name: "Python that is killed is begun again, a few times [Optuna]",
  ignore: ignore || Deno.build.os !== "linux",
  fn: () =>
    withStudy("tpe", async (study) => {
      const kill = async () => {
        const [python] = await childrenOf(Deno.pid);
        try {
          if (python !== undefined) Deno.kill(python, "SIGKILL");
        } catch {
          // It has just ended.
        }
      };
      const events: SearchEvent[] = [];
      const params = await study.ask(1, events);
      await kill();
      assertEquals(await study.ask(1, events), params);
      await kill();
      const timer = setInterval(kill, 20);
      try {
        const error = await assertRejects(
          () => study.ask(1, events),
          RunFailure,
          "Python ended 3 times before it answered",
        );
        assert(error.message.includes("SIGKILL"), error.message);
      } finally {
        clearInterval(timer);
      }
      assertEquals(await study.ask(1, events), params);
    }),
});

/** Sets a Python of a shell script, while `act` runs. */
async function withPython(
  script: string,
  act: () => Promise<void>,
): Promise<void> {
  const before = Deno.env.get("BELLMAN_PYTHON");
  const cache = Deno.env.get("BELLMAN_CACHE");
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/python`, `#!/bin/sh\n${script}`, {
      mode: 0o755,
    });
    Deno.env.set("BELLMAN_PYTHON", `${dir}/python`);
    Deno.env.set("BELLMAN_CACHE", dir);
    await act();
  } finally {
    if (before === undefined) Deno.env.delete("BELLMAN_PYTHON");
    else Deno.env.set("BELLMAN_PYTHON", before);
    if (cache === undefined) Deno.env.delete("BELLMAN_CACHE");
    else Deno.env.set("BELLMAN_CACHE", cache);
    await Deno.remove(dir, { recursive: true });
  }
}

/** Finds the Python that has Optuna. */
function python(): string {
  return optunaPythons().find((it) => {
    try {
      return new Deno.Command(it, { args: ["-c", "import optuna"] })
        .outputSync().success;
    } catch {
      return false;
    }
  })!;
}

Deno.test({
  name: "what Python prints is no reply [Optuna]",
  ignore: ignore || Deno.build.os === "windows",
  async fn() {
    const real = python();
    const params = await withStudy("tpe", (study) => study.ask(1, []));
    const prints = "import os; print(1); print({}); os.system('echo {}')\n";
    const script =
      `printf '{"reply": 1, "val'\nexec ${real} -u -c "${prints}$3\nprint(2)"\n`;
    await withPython(
      script,
      () =>
        withStudy("tpe", async (study) => {
          assertEquals(await study.ask(1, []), params);
        }),
    );
  },
});

Deno.test({
  name:
    "a Python without Optuna, or with another version, is named in one line",
  ignore: Deno.build.os === "windows",
  async fn() {
    const start = () => withStudy("tpe", () => Promise.resolve());
    const cases = [
      ["exit 3", /python: Python ended 3 times .* it ended with code 3; run/],
      [
        'echo no luck >&2; read line; echo \'{"reply":1,"error":"ImportError: no optuna"}\'; read line',
        /python: ImportError: no optuna; run '.*install-optuna', set BELLMAN_PYTHON/,
      ],
      [
        'read line; echo \'{"reply":1,"value":"3.6.1"}\'; read line',
        /has Optuna 3\.6\.1, expected 5; run/,
      ],
    ] as const;
    for (const [script, message] of cases) {
      await withPython(`${script}\n`, async () => {
        const error = await assertRejects(start, UsageError);
        assert(message.test(error.message), error.message);
      });
    }
  },
});

Deno.test({
  name: "Optuna tells importances, and writes a journal [Optuna]",
  ignore,
  fn: () =>
    withStudy("tpe", async (study) => {
      assertEquals(await study.importances([]), undefined);
      const events = await draw(study, 20);
      const found = await study.importances(events);
      assertEquals(Object.keys(found!).sort(), Object.keys(SPACE).sort());
      const sum = Object.values(found!).reduce((sum, it) => sum + it, 0);
      assertAlmostEquals(sum, 1, 1e-9);
      const path = `${await Deno.makeTempDir()}/journal.log`;
      await study.export("a name", path, events);
      const args = [
        "-c",
        `import optuna; from optuna.storages.journal import JournalFileBackend as F
study = optuna.load_study(study_name="a name", storage=optuna.storages.JournalStorage(F("${path}")))
print([it.state.name for it in study.trials].count("PRUNED"), len(study.trials), study.best_trial.params["numSteps"])`,
      ];
      const { stdout } = await new Deno.Command(python(), { args }).output();
      const asked = events.filter((it) => it.op === "ask");
      const told = events.filter((it) =>
        it.op === "tell" && it.value !== undefined
      );
      const best = told.filter((it) => it.op === "tell" && it.trial > 0)
        .reduce((a, b) =>
          (b as { value: number }).value > (a as { value: number }).value
            ? b
            : a
        );
      const { params } = asked[(best as { trial: number }).trial];
      assertEquals(
        new TextDecoder().decode(stdout).trim(),
        // The first trial is not in the space.
        `3 19 ${params.numSteps}`,
      );
    }),
});
