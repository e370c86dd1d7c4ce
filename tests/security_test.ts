/**
 * A run folder is data: code that it names is told before it is imported, and
 * runs only where it is the project's own, or the user trusts the run.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { loadRun, UsageError } from "@bellman/runs";
import { hasGymnasium } from "@bellman/envs/gymnasium";
import { readRecord, RunFolder } from "@bellman/runs";
import { existsSync } from "node:fs";
import { parseMapping } from "../lab/runs/settings/yaml.ts";
import { capture } from "../cli/testdata/capture.ts";
import {
  copyRun,
  editCheckpoints,
  editRecord,
  leaveUnevaluated,
} from "./runs.ts";
import { runDeno } from "./testdata/run_deno.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const dir = await Deno.realPath(
  await Deno.makeTempDir({ prefix: "bellman-security-" }),
);

/** Writes a module that registers an environment. */
async function writeModule(path: string, id: string): Promise<void> {
  await Deno.writeTextFile(
    path,
    `import { CART_POLE, DynamicsEnv, register } from "${ROOT}envs/mod.ts";
register({ id: "${id}", maxEpisodeSteps: 20, make: () => new DynamicsEnv(CART_POLE) });
`,
  );
}

const module = `${dir}/marked_env.ts`;
await writeModule(module, "Marked-v0");
const TINY = [
  ...["--backend=cpu", "--steps=40", "--set=evaluationEpisodes=1"],
  "--set=numSteps=5",
];
const run = `${dir}/run`;
const trained = await capture(
  ...["train", "--env=Marked-v0", `--set=envModules=[${module}]`],
  ...[...TINY, "--quiet", "--out", run],
);
assertEquals([trained.code, trained.err], [0, ""]);
const plain = `${dir}/plain`;
assertEquals((await capture("train", ...TINY, "--out", plain)).code, 0);

/** Replaces words of a configuration. */
function edited(text: string, replace: [string | RegExp, string][]): string {
  return replace.reduce((text, [from, to]) => text.replace(from, to), text);
}

/**
 * A copy of a run with other words in its configuration; in its record and its
 * checkpoints as well where it is forged, as a stranger would do it.
 */
function copyOf(
  source: string,
  { as, replace = [], isForged = false }: {
    as: string;
    replace?: [string | RegExp, string][];
    isForged?: boolean;
  },
): string {
  const target = copyRun(source, `${dir}/${as}`);
  const path = `${target}/config.yaml`;
  const before = Deno.readTextFileSync(path), text = edited(before, replace);
  Deno.writeTextFileSync(path, text);
  if (!isForged) return target;
  const settings = Object.fromEntries(parseMapping(text, path));
  editRecord(target, () => ({ settings }));
  editCheckpoints(target, (config) => edited(config, replace));
  return target;
}

/** Why code of a run is not run. */
const UNKNOWN = "it may be somebody else's";

/** Each way to act in a run's environment, with what is said of it. */
function commandsOn(folder: string): [string, string[]][] {
  return [
    ["eval", ["eval", folder, "--episodes=1"]],
    ["play", ["play", folder, `--png=${dir}/pictures`]],
    ["resume", ["train", "--resume", folder, "--steps=80"]],
  ];
}

Deno.test("what a run imports is told first, once it is trusted", async () => {
  for (const [, args] of commandsOn(copyOf(run, { as: "told" }))) {
    const { code, err } = await capture(...args, "--trust");
    assertEquals(code, 0, err);
    assertEquals(err.split("\n")[0], `The run imports file://${module}`);
  }
  const { code, err } = await capture("eval", plain, "--episodes=1");
  assertEquals([code, err], [0, ""]);
});

Deno.test("a run runs no code from elsewhere unless it is trusted", async () => {
  for (const [i, [command]] of commandsOn(run).entries()) {
    const marked = `${dir}/marked${i}.ts`;
    const marker = `${dir}/imported${i}`;
    await Deno.writeTextFile(
      marked,
      `Deno.writeTextFileSync("${marker}", "");\nimport "file://${module}";\n`,
    );
    const theirs = copyOf(run, {
      as: `theirs${i}`,
      isForged: true,
      replace: [[`file://${module}`, `file://${marked}`]],
    });
    const [, args] = commandsOn(theirs)[i];
    const refused = await capture(...args);
    assertEquals(refused, {
      code: 2,
      out: "",
      err:
        `error: Cannot ${command} ${theirs}: ${UNKNOWN} and would import file://${marked}; read that code first, then add --trust\n`,
    });
    assertEquals(existsSync(marker), false);
    const trusted = await capture(...args, "--trust");
    assertEquals(trusted.code, 0, trusted.err);
    assertStringIncludes(trusted.err, `The run imports file://${marked}\n`);
    assertEquals(existsSync(marker), true);
  }
  // Made here, too, as a module of the command line's choice.
  const { code, err } = await capture("eval", run);
  assertEquals(code, 2);
  assertStringIncludes(err, UNKNOWN);
});

Deno.test("a run without code needs no trust", async () => {
  const [resume, ...others] = commandsOn(copyOf(plain, { as: "plain-copy" }))
    .reverse();
  for (const [, args] of others) {
    const { code, err } = await capture(...args);
    assertEquals([code, err], [0, ""]);
  }
  const { code, err } = await capture(...resume[1]);
  assertEquals(code, 0, err);
});

Deno.test("an algorithm of somebody else's is named, and imported once it is trusted", async () => {
  const algorithm = `${dir}/marked_algorithm.ts`;
  const marker = `${dir}/imported-algorithm`;
  await Deno.writeTextFile(
    algorithm,
    `import { registerAlgorithm } from "${ROOT}lab/runs/settings/mod.ts";
import { a2c } from "${ROOT}algorithms/a2c/mod.ts";
if (!Deno.env.has("MARKED")) registerAlgorithm({ ...a2c, meta: { ...a2c.meta, name: "marked" } });
Deno.env.set("MARKED", "");
Deno.writeTextFileSync("${marker}", "");
`,
  );
  const out = `${dir}/marked`;
  const modules = `--set=algorithmModules=[${algorithm}]`;
  const { code, err } = await capture(
    ...["train", "marked", modules, ...TINY, "--quiet", "--out", out],
  );
  assertEquals([code, err], [0, ""]);
  const url = `file://${algorithm}`;
  // Where nothing of the algorithm is needed, nothing is imported.
  const plot = await capture("plot", out, "--key=eval/return_mean");
  assertEquals([plot.code, plot.err], [0, ""]);
  const cases = [
    ...commandsOn(out),
    ["export", ["export", out, `--out=${dir}/marked.onnx`]] as const,
  ];
  for (const [command, args] of cases) {
    const refused = await capture(...args);
    assertEquals(
      refused.err,
      `error: Cannot ${command} ${out}: ${UNKNOWN} and would import ${url}; read that code first, then add --trust\n`,
    );
    const trusted = await capture(...args, "--trust");
    assertEquals(trusted.code, 0, trusted.err);
    assertStringIncludes(trusted.err, `The run imports ${url}\n`);
  }
  const from = await capture(
    ...["train", "a2c", ...TINY, `--init-from=${out}`, `--out=${dir}/never`],
  );
  assertEquals([from.code, from.err], [
    2,
    `error: Cannot start from ${out}: ${UNKNOWN} and would import ${url}; read that code first, then add --trust\n`,
  ]);
  await assertRejects(
    () => loadRun(out),
    UsageError,
    "read that code first, then add isTrusted: true",
  );
  const { agent, close } = await loadRun(out, { isTrusted: true });
  assert(agent.exportPolicy!().length > 0);
  close();
  Deno.env.delete("MARKED");
});

Deno.test("modules are files or packages, whoever trusts them", async () => {
  const cases: [string, string][] = [
    ["data:text/javascript,console.log(1)", "data:"],
    ["DATA:text/javascript;base64,Y29uc29sZS5sb2coMSk=", "data:"],
    ["' data:text/javascript,console.log(1)'", "data:"],
    ["https://example.com/env.ts", "https:"],
    ["http://127.0.0.1:1/env.ts", "http:"],
    ["blob:null/0c3a", "blob:"],
  ];
  for (const [i, [name, protocol]] of cases.entries()) {
    const theirs = copyOf(run, {
      as: `remote${i}`,
      isForged: true,
      // Long paths are folded, others stand in quotes.
      replace: [[/(>-\s+|['"])?file:\/\/[^\s'"]+['"]?/, name]],
    });
    for (const [, args] of commandsOn(theirs)) {
      const { code, err } = await capture(...args, "--trust");
      assertEquals(code, 2);
      assertMatch(
        err,
        /^error: Cannot import .*, which envModules names: expected a file or a package of npm: or jsr:, not \w+:\n$/i,
      );
      assertStringIncludes(err, `not ${protocol}`);
    }
    const { code } = await capture(
      ...["train", `--set=envModules=[${name}]`, `--out=${dir}/never`],
    );
    assertEquals(code, 2);
  }
});

Deno.test("Python's modules, and texts that it may take for some, need trust, too", async () => {
  const cases: [[string | RegExp, string][], string][] = [
    [[["env: CartPole-v1", "env: 'gym:evil:CartPole-v1'"]], "import evil;"],
    [
      [["env: CartPole-v1", "env: gym:CartPole-v1"], [
        "envModules: []",
        "envModules: [evil]",
      ]],
      "import evil;",
    ],
    [
      [["env: CartPole-v1", "env: gym:GymV21Environment-v0"], [
        "envKwargs: {}",
        "envKwargs: {env_id: 'evil:X-v0', make_kwargs: {n: 1}}",
      ]],
      'give Python the option "evil:X-v0";',
    ],
  ];
  for (const [i, [replace, says]] of cases.entries()) {
    const theirs = copyOf(plain, {
      as: `python${i}`,
      isForged: true,
      replace,
    });
    const { code, err } = await capture("eval", theirs);
    assertEquals(code, 2);
    assertStringIncludes(err, `would ${says}`);
  }
});

/** Settings that name code or files, and environments that they are used with. */
const NAMING: [set: object, ...environments: string[]][] = [
  [{}, "gym:evil:CartPole-v1"],
  [{}, "CartPole-v1", "gym:evil:CartPole-v1"],
  [{}, "CartPole-v1", "Acrobot-v1", "gym:evil.py:CartPole-v1"],
  [{ envModules: ["MODULE"] }, "CartPole-v1"],
  [{ envModules: ["MODULE"] }, "CartPole-v1", "Marked-v0"],
  [{ env_modules: ["MODULE"] }, "CartPole-v1"],
  [{ envModules: ["evil"] }, "gym:CartPole-v1"],
  [{ algorithmModules: ["MODULE"] }, "CartPole-v1"],
  [{ algorithm_modules: ["MODULE"] }, "CartPole-v1", "Acrobot-v1"],
  [{ wrappers: ["evil:Wrapper"] }, "gym:CartPole-v1"],
  [{ envKwargs: { a: [{ b: "evil:X" }] } }, "gym:CartPole-v1"],
  [{ envKwargs: { file: "/etc/passwd" } }, "HalfCheetah-v5"],
  [{ evaluationEnvKwargs: { file: "../a.xml" } }, "CartPole-v1", "Hopper-v5"],
];

Deno.test("plans of both kinds that name code at any place need trust", async () => {
  const marker = `${dir}/imported-by-plan`, evil = `${dir}/evil_plan.ts`;
  await Deno.writeTextFile(
    evil,
    `Deno.writeTextFileSync(${JSON.stringify(marker)}, "");\n`,
  );
  const config = `${dir}/evil_config.yaml`;
  for (const [given, ...environments] of NAMING) {
    const text = JSON.stringify(given).replace("MODULE", evil);
    const set = JSON.parse(text);
    await Deno.writeTextFile(config, text);
    const scores = Object.fromEntries(
      environments.map((it) => [it, { low: 0, high: 1 }]),
    );
    const search = {
      ...{ algorithm: "a2c", preset: "none", trials: 1, environments, set },
      ...environments.length > 1 ? { scores } : {},
      space: { gamma: [0.9, 0.99] },
    };
    const variant = { algorithm: "a2c", preset: "none" };
    const experiments = [
      { environments, set, variants: { a: variant } },
      { environments, variants: { a: variant, b: { ...variant, set } } },
      { environments, variants: { b: { algorithm: "a2c", config } } },
      { variants: { b: { ...variant, environments, set } } },
    ];
    const plans: [command: string, plan: object][] = [
      ["search", search],
      ...experiments.map((it): [string, object] => ["experiment", it]),
    ];
    for (const [command, plan] of plans) {
      const path = `${dir}/evil.yaml`, out = `${dir}/never`;
      await Deno.writeTextFile(path, JSON.stringify(plan));
      const ways = command === "search"
        ? [[], [`--export-optuna=${dir}/never.log`]]
        : [[], ["--report"], ["--print"]];
      for (const way of ways) {
        const { code, out: printed, err } = await capture(
          ...[command, path, "--out", out, ...way],
        );
        assertEquals([code, printed], [2, ""], `${text} ${err}`);
        assertMatch(
          err,
          /^error: Cannot (search evil.yaml|run [ab] on .*): its plan may be somebody else's and would (import|give|read) .*, then add --trust\n$/,
        );
      }
    }
  }
  assertEquals([marker, `${dir}/never`].map((it) => existsSync(it)), [
    false,
    false,
  ]);
});

Deno.test("files that options of an environment name need trust", async () => {
  const cases = ["envKwargs", "evaluationEnvKwargs"].flatMap((key) =>
    ["/etc/passwd", "../model.xml", "a\\b.xml"].map((it) => [key, it])
  );
  for (const [i, [key, file]] of cases.entries()) {
    const theirs = copyOf(plain, {
      as: `file${i}`,
      isForged: true,
      replace: [["env: CartPole-v1", "env: HalfCheetah-v5"], [
        `${key}: {}`,
        `${key}: {xmlFile: '${file}'}`,
      ]],
    });
    for (const [command, args] of commandsOn(theirs)) {
      const { code, err } = await capture(...args);
      assertEquals([code, err], [
        2,
        `error: Cannot ${command} ${theirs}: ${UNKNOWN} and would read the file ${
          JSON.stringify(file)
        }; look at that first, then add --trust\n`,
      ]);
    }
  }
});

Deno.test("an environment of Gymnasium's own needs no trust [Gymnasium]", {
  ignore: !hasGymnasium(),
}, async () => {
  const theirs = copyOf(plain, {
    as: "python",
    isForged: true,
    replace: [["env: CartPole-v1", "env: gym:CartPole-v1"]],
  });
  const { code, err } = await capture("eval", theirs, "--episodes=1");
  assertEquals([code, err], [0, ""]);
});

Deno.test("a module of --config is told; --trust is for runs", async () => {
  const out = `${dir}/from-config`;
  const { code, err } = await capture(
    ...["train", `--config=${run}/config.yaml`, "--quiet", "--out", out],
  );
  assertEquals(code, 0);
  assertEquals(err.split("\n")[0], `The run imports file://${module}`);
  const trusted = await capture("train", "--trust");
  assertEquals([trusted.code, trusted.err], [
    2,
    "error: Cannot use '--trust' without --resume or --init-from: a new run imports what its options name\n",
  ]);
});

Deno.test("edits of config.yaml are told and not taken", async () => {
  const changed = copyOf(plain, {
    as: "edited",
    replace: [[/learningRate: .*/, "learningRate: 0.5"], [
      /seed: 0/,
      "seed: 9",
    ]],
  });
  const path = `${changed}/config.yaml`;
  const says =
    `${path} was edited: this resumes with what the run began with, seed (0, not 9), learningRate (0.004, not 0.5); 'train --config ${path}' starts another run\n`;
  for (const [, args] of commandsOn(changed)) {
    const { code, err } = await capture(...args);
    assertEquals(code, 0, err);
    assertStringIncludes(err, says);
  }
  const report = await Deno.readTextFile(`${changed}/report.html`);
  assertStringIncludes(report, "learningRate: 0.004");
  const commented = copyOf(plain, {
    as: "commented",
    replace: [[/^/, "# my first run\n"]],
  });
  assertEquals((await capture("eval", commented)).err, "");
});

Deno.test("a run goes on without its config.yaml, which is put back", async () => {
  const source = await Deno.readTextFile(`${plain}/config.yaml`);
  for (const damage of ["gone", "broken"]) {
    const damaged = copyOf(plain, { as: `config-${damage}` });
    const path = `${damaged}/config.yaml`;
    leaveUnevaluated(damaged);
    if (damage === "gone") await Deno.remove(path);
    else await Deno.writeTextFile(path, "algorithm: [a2");
    const { code, err } = await capture("train", "--resume", damaged);
    assertEquals(code, 0, err);
    assertStringIncludes(
      err,
      `${path} ${
        damage === "gone" ? "is gone" : "cannot be read any more"
      }: this resumes with what the run began with\n`,
    );
    if (damage === "gone") {
      assertEquals(await Deno.readTextFile(path), source);
    }
  }
});

Deno.test("a record that was edited, or is another run's, is told and not taken", async () => {
  const other = `${dir}/of-another`;
  const options = ["--env=Acrobot-v1", "--set=normalizeReward=true", ...TINY];
  const made = await capture("train", ...options, "--quiet", "--out", other);
  assertEquals(made.code, 0);
  const asText = (dir: string) => {
    const path = `${dir}/run.json`, text = Deno.readTextFileSync(path);
    const changed = text.replace(
      '"learningRate": 0.004',
      '"learningRate": 0.5',
    );
    assert(changed !== text);
    Deno.writeTextFileSync(path, changed);
  };
  const withChecksum = (dir: string) =>
    editRecord(dir, ({ settings }) => ({
      settings: { ...settings, learningRate: 0.5 },
    }));
  const take = (name: string) => (dir: string) =>
    Deno.copyFileSync(`${other}/${name}`, `${dir}/${name}`);
  const editYaml = (dir: string) => {
    const path = `${dir}/config.yaml`;
    const text = Deno.readTextFileSync(path);
    Deno.writeTextFileSync(
      path,
      edited(text, [[/learningRate: .*/, "learningRate: 0.5"]]),
    );
  };
  const wasEdited =
    "run.json: it is damaged, or was edited; the settings of its checkpoints and config.yaml are used instead";
  const isOfAnother =
    "run.json is of another run; the settings of the checkpoints are used instead";
  const ofYaml = "config.yaml was edited";
  const cases: [((dir: string) => void)[], ...says: string[]][] = [
    [[asText], wasEdited],
    [[asText, editYaml], wasEdited, ofYaml],
    [[withChecksum], isOfAnother],
    [[withChecksum, editYaml], isOfAnother, ofYaml],
    [[take("run.json")], isOfAnother],
    [[take("run.json"), take("config.yaml")], isOfAnother, ofYaml],
    [[take("config.yaml")], ofYaml],
  ];
  for (const [i, [changes, ...says]] of cases.entries()) {
    const mixed = copyOf(plain, { as: `mixed${i}` });
    for (const change of changes) change(mixed);
    const commands: [string, string[]][] = [
      ["export", ["export", mixed]],
      ...commandsOn(mixed),
    ];
    for (const [, args] of commands) {
      const { code, err } = await capture(...args);
      const told = `${args.join(" ")}: ${err}`;
      assertEquals(code, 0, told);
      for (const line of [wasEdited, isOfAnother, ofYaml]) {
        assertEquals(err.includes(line), says.includes(line), told);
      }
    }
    // What it was resumed with is its record from then on.
    const { settings } = readRecord(new RunFolder(mixed))!;
    assertEquals(
      [settings.env, settings.learningRate, settings.totalTimesteps],
      ["CartPole-v1", 0.004, 80],
    );
    assertEquals((await capture("eval", mixed, "--episodes=1")).err, "");
  }
});

Deno.test("whichever files of a run name code, none is run in silence", async () => {
  const marker = `${dir}/imported-by-part`, evil = `${dir}/evil_part.ts`;
  await Deno.writeTextFile(
    evil,
    `Deno.writeTextFileSync(${JSON.stringify(marker)}, "");\n`,
  );
  const naming = (text: string) =>
    text.replace("envModules: []", `envModules: ['file://${evil}']`);
  for (let bits = 1; bits < 16; bits++) {
    const [record, config, checkpoints, isGone] = [1, 2, 4, 8]
      .map((bit) => (bits & bit) > 0);
    const theirs = copyRun(plain, `${dir}/part${bits}`);
    const folder = new RunFolder(theirs);
    if (record) {
      const envModules = [`file://${evil}`];
      editRecord(theirs, (it) => ({
        settings: { ...it.settings, envModules },
      }));
    }
    if (config) {
      const text = await Deno.readTextFile(folder.configPath);
      await Deno.writeTextFile(folder.configPath, naming(text));
    }
    if (checkpoints) editCheckpoints(theirs, naming);
    if (isGone) await Deno.remove(folder.recordPath);
    const [evaluate, _, resume] = commandsOn(theirs);
    for (const [, args] of [evaluate, resume]) {
      const { code, err } = await capture(...args);
      const told = `${bits}: ${args.join(" ")}: ${code} ${err}`;
      assertEquals(code === 2, err.includes(UNKNOWN), told);
      const isNamed = checkpoints || config || record && !isGone;
      assert(code === 2 || !isNamed || / (is|was) /.test(err), told);
      assertEquals(existsSync(marker), false, told);
    }
  }
});

const project = `${dir}/project`, pack = `${project}/downloads/pack`;
for (const name of ["envs", "plans", "downloads/pack/envs"]) {
  await Deno.mkdir(`${project}/${name}`, { recursive: true });
}
await Deno.writeTextFile(`${project}/deno.json`, "{}\n");
await writeModule(`${project}/envs/own.ts`, "Own-v0");

/** Runs commands with another current folder. */
async function within<T>(folder: string, act: () => Promise<T>): Promise<T> {
  const before = Deno.cwd();
  Deno.chdir(folder);
  try {
    return await act();
  } finally {
    Deno.chdir(before);
  }
}

Deno.test("code of the project needs no word, for runs as for plans", async () => {
  await within(project, async () => {
    const own = `file://${project}/envs/own.ts`;
    const out = "runs/own";
    const made = await capture(
      ...["train", "--env=Own-v0", "--set=envModules=[envs/own.ts]"],
      ...[...TINY, "--quiet", "--out", out],
    );
    assertEquals([made.code, made.err], [0, ""]);
    // Of a run that was made elsewhere, too.
    const theirs = copyOf(`${project}/${out}`, { as: "of-elsewhere" });
    for (const folder of [out, theirs]) {
      for (const [, args] of commandsOn(folder)) {
        const { code, err } = await capture(...args);
        assertEquals(code, 0, err);
        assertEquals(err.split("\n")[0], `The run imports ${own}`);
      }
    }
    (await loadRun(out)).close();
    const plan = {
      ...{ environments: ["Own-v0"], episodes: 1, seeds: 1, steps: 40 },
      set: { envModules: ["envs/own.ts"], numSteps: 5, evaluationEpisodes: 1 },
      variants: { a2c: {} },
    };
    await Deno.writeTextFile("plans/own.yaml", JSON.stringify(plan));
    const experiment = ["experiment", "plans/own.yaml", "--out", "group"];
    const ran = await capture(...experiment);
    assertEquals(ran.code, 0, ran.err);
    // What is resumed is looked at once more.
    const cell = `${project}/group/runs/a2c/Own-v0/seed-0`;
    const { evaluations } = readRecord(new RunFolder(cell))!;
    leaveUnevaluated(cell);
    const again = await capture(...experiment);
    assertEquals(again.code, 0, again.err);
    assertEquals(readRecord(new RunFolder(cell))!.evaluations, evaluations);
    const { variants: _, episodes: __, ...common } = plan;
    await Deno.writeTextFile(
      "plans/space.yaml",
      JSON.stringify({
        ...{ ...common, algorithm: "a2c", sampler: "random", trials: 1 },
        ...{ space: { gamma: [0.9, 0.99] }, confirm: { top: 1, seeds: 1 } },
      }),
    );
    const search = ["search", "plans/space.yaml", "--out", "searched"];
    const found = await capture(...search);
    assertEquals(found.code, 0, found.err);
  });
});

/** Writes modules that are not the project's own, each with what its import leaves. */
async function writeEvil(marker: string): Promise<string[]> {
  const text = `Deno.writeTextFileSync(${JSON.stringify(marker)}, "");\n`;
  const files = [
    ...["run/evil.ts", "evil.ts", "envs/evil.ts"].map((it) => `${pack}/${it}`),
    `${dir}/outside.ts`,
  ];
  for (const path of files) await Deno.writeTextFile(path, text);
  const [link, linked] = [`${project}/envs/link.ts`, `${project}/linked`];
  await Deno.symlink(`${dir}/outside.ts`, link);
  await Deno.symlink(`${pack}/envs`, linked);
  return [...files, link, `${linked}/evil.ts`];
}

Deno.test("what came with a run or a plan is none of the project's code", async () => {
  const marker = `${dir}/imported-of-pack`;
  copyRun(plain, `${pack}/run`);
  const modules = await writeEvil(marker);
  const forge = (key: string, value: unknown, env = "CartPole-v1") => {
    const none = key.endsWith("Kwargs") ? "{}" : "[]";
    const replace: [string, string][] = [
      [`${key}: ${none}`, `${key}: ${JSON.stringify(value)}`],
      ["env: CartPole-v1", `env: ${env}`],
    ];
    const as = "project/downloads/pack/run";
    copyOf(plain, { as, isForged: true, replace });
  };
  const checkRefused = async (args: readonly string[]) => {
    const { code, out, err } = await capture(...args);
    const told = `${args.join(" ")}: ${err}`;
    assertEquals([code, out], [2, ""], told);
    assertMatch(err, /^error: Cannot .* and would .*, then add --trust\n$/);
    assertEquals(existsSync(marker), false, told);
  };
  await within(project, async () => {
    for (const module of modules) {
      for (const key of ["envModules", "algorithmModules"]) {
        forge(key, [`file://${module}`]);
        for (const [, args] of commandsOn("downloads/pack/run")) {
          await checkRefused(args);
        }
        await assertRejects(
          () => loadRun("downloads/pack/run"),
          UsageError,
          "isTrusted: true",
        );
        const set = { [key]: [module] };
        const plan = { environments: ["CartPole-v1"], set };
        const plans = {
          experiment: { ...plan, variants: { a2c: {} } },
          search: {
            ...plan,
            algorithm: "a2c",
            trials: 1,
            space: { gamma: [0] },
          },
        };
        for (const [command, plan] of Object.entries(plans)) {
          const path = `downloads/pack/${command}.yaml`;
          await Deno.writeTextFile(path, JSON.stringify(plan));
          await checkRefused([command, path, "--out", "never"]);
        }
      }
    }
    // Of Python, and of files that options name, there is none of the project's own.
    const foreign: [key: string, value: unknown, env: string][] = [
      ["envModules", [`${project}/envs/own.py`], "gym:CartPole-v1"],
      ["envKwargs", { xmlFile: `${project}/envs/own.xml` }, "HalfCheetah-v5"],
    ];
    for (const [key, value, env] of foreign) {
      forge(key, value, env);
      for (const [, args] of commandsOn("downloads/pack/run")) {
        await checkRefused(args);
      }
    }
    // Beside a plan in a folder of the project.
    await Deno.copyFile(`${pack}/evil.ts`, "plans/evil.ts");
    await Deno.writeTextFile(
      "plans/evil.yaml",
      "{environments: [CartPole-v1], set: {envModules: [plans/evil.ts]}, variants: {a2c: {}}}",
    );
    await checkRefused(["experiment", "plans/evil.yaml", "--out", "never"]);
  });
  // The run itself is the current folder, inside of a project and elsewhere.
  for (const folder of [`${pack}/run`, `${dir}/unpacked`]) {
    copyOf(plain, {
      ...{ as: folder.slice(dir.length + 1), isForged: true },
      replace: [["envModules: []", "envModules: [./evil.ts]"]],
    });
    await Deno.copyFile(`${pack}/evil.ts`, `${folder}/evil.ts`);
    await within(folder, async () => {
      for (const [, args] of commandsOn(".")) await checkRefused(args);
    });
  }
  // The word is taken for all of them.
  await within(`${dir}/unpacked`, async () => {
    await capture("eval", ".", "--trust");
    assertEquals(existsSync(marker), true);
  });
});

Deno.test("a cell that names other code than its plan is not gone on with", async () => {
  const marker = `${dir}/imported-of-cell`;
  const group = `${project}/downloads/group`;
  const cell = `${group}/runs/a2c/Own-v0/seed-0`;
  const evil = `${group}/evil.ts`;
  await within(project, async () => {
    copyRun("group/runs/a2c/Own-v0/seed-0", cell);
    await Deno.copyFile("group/plan.yaml", `${group}/plan.yaml`);
    await Deno.writeTextFile(
      evil,
      `Deno.writeTextFileSync(${JSON.stringify(marker)}, "");\n`,
    );
    const envModules = [`file://${evil}`];
    leaveUnevaluated(cell);
    editRecord(cell, (it) => ({ settings: { ...it.settings, envModules } }));
    const own = `file://${project}/envs/own.ts`;
    editCheckpoints(cell, (it) => it.replaceAll(own, `file://${evil}`));
    const { code, err } = await capture(
      ...["experiment", "plans/own.yaml", "--out", group],
    );
    assertEquals(code, 1, err);
    assertStringIncludes(err, `${UNKNOWN} and would import file://${evil}`);
    assertEquals(existsSync(marker), false);
  });
});

/** A task of deno.json, as a person runs it. */
const task = (...args: string[]) =>
  runDeno(args, { command: "task", cwd: ROOT });

Deno.test("export runs no code of a run's", async () => {
  const broken = `${dir}/broken.ts`;
  await Deno.writeTextFile(broken, "throw new Error('imported');\n");
  const theirs = copyOf(run, {
    as: "theirs-to-export",
    isForged: true,
    replace: [[`file://${module}`, `file://${broken}`]],
  });
  const path = `${dir}/theirs.onnx`;
  const { code, err } = await capture("export", theirs, "--out", path);
  assertEquals([code, err], [0, ""]);
  const { size } = await Deno.stat(path);
  assertEquals(size, (await Deno.stat(`${run}/policy.onnx`)).size);
});

Deno.test("export does its work with the permissions of its task", async () => {
  for (const scaled of [false, true]) {
    const out = `${dir}/to-export-${scaled}`;
    const options = [...TINY, `--set=normalizeObservation=${scaled}`];
    await capture(...["train", "--quiet", ...options, "--out", out]);
    const path = `${out}/again.onnx`;
    const exported = await task("export", out, "--out", path);
    assertEquals([exported.code, exported.err], [0, ""]);
    assertEquals(
      await Deno.readFile(path),
      await Deno.readFile(`${out}/policy.onnx`),
    );
  }
});

Deno.test("plot and list do their work with the permissions of their tasks", async () => {
  const svg = `${dir}/curve.svg`;
  const key = "--key=eval/return_mean";
  const plot = await task("plot", plain, key, "--out", svg);
  assertEquals(plot.code, 0, plot.err);
  assertStringIncludes(plot.out, `wrote ${svg}`);
  const list = await task("list", "--json");
  assertEquals(list.code, 0, list.err);
  const { environments, presets } = JSON.parse(list.out);
  assert(environments.length > 100 && presets.length >= 6);
});

Deno.test("each task has the permissions of its work and no others", async () => {
  const probe = `${dir}/probe.ts`;
  await Deno.writeTextFile(
    probe,
    `const names = ["read", "write", "net", "env", "sys", "run", "ffi", "import"];
const granted = [];
for (const name of names) {
  const { state } = await Deno.permissions.query({ name });
  if (state === "granted") granted.push(name);
}
for (const host of ["127.0.0.1", "0.0.0.0", "localhost", "deno.com"]) {
  const { state } = await Deno.permissions.query({ name: "net", host });
  if (state === "granted") granted.push(host);
}
console.log(granted.join());`,
  );
  const wanted: Record<string, string> = {
    export: "read,write,run",
    plot: "read,write",
    list: "read",
    board: "read,127.0.0.1",
    site: "read,write,run",
    ...Object.fromEntries(
      ["train", "experiment", "search", "eval", "play", "share"]
        // Games in pages and programs connect to this machine.
        .map((it) => [it, "read,write,env,sys,run,ffi,127.0.0.1"]),
    ),
    "train:cluster":
      "read,write,net,env,sys,run,ffi,127.0.0.1,0.0.0.0,localhost,deno.com",
  };
  const guarded = ["export", "plot", "list", "board", "site"];
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  for (const [name, permissions] of Object.entries(wanted)) {
    const { command } = tasks[name];
    assertEquals(command.includes("--no-prompt"), guarded.includes(name), name);
    const set = /-P=\w+/.exec(command)![0];
    const { out } = await runDeno([
      ...["--no-prompt", set, "--config", `${ROOT}deno.json`, probe],
    ]);
    assertEquals(out.trim(), permissions, name);
  }
  const { code, err } = await task(
    ...["train", "a2c", "--workers=2", "--cluster=local"],
  );
  assertEquals([code, /expected 'deno task train:cluster'/.test(err)], [
    2,
    true,
  ]);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
