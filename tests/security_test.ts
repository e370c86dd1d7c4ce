/**
 * A run folder is data: code that it names is told before it is imported, and
 * runs only where this user made the run or trusts it.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { loadRun, UsageError } from "@bellman/cli";
import { hasGymnasium } from "@bellman/envs/gymnasium";
import { loadStateSync, saveStateSync } from "@bellman/files";
import { existsSync } from "node:fs";
import { capture } from "../cli/testdata/capture.ts";
import { runDeno } from "./testdata/run_deno.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const dir = await Deno.makeTempDir({ prefix: "bellman-security-" });
const before = Deno.env.get("BELLMAN_STATE");

/** Makes what follows that of a user of another machine. */
function asUser(name: string): void {
  Deno.env.set("BELLMAN_STATE", `${dir}/state-${name}`);
}

asUser("maker");
const module = `${dir}/marked_env.ts`;
await Deno.writeTextFile(
  module,
  `import { CART_POLE, DynamicsEnv, register } from "${ROOT}envs/mod.ts";
register({ id: "Marked-v0", maxEpisodeSteps: 20, make: () => new DynamicsEnv(CART_POLE) });
`,
);
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
 * A copy of a run with other words in its configuration; in that of its
 * checkpoints as well where it is unsigned, as a stranger would do it.
 */
async function copyOf(
  source: string,
  { as, replace = [], unsigned = false }: {
    as: string;
    replace?: [string | RegExp, string][];
    unsigned?: boolean;
  },
): Promise<string> {
  const target = `${dir}/${as}`;
  await Deno.mkdir(`${target}/checkpoints`, { recursive: true });
  for (const sub of ["", "/checkpoints"]) {
    for await (const { name, isFile } of Deno.readDir(source + sub)) {
      if (!isFile) continue;
      await Deno.copyFile(`${source}${sub}/${name}`, `${target}${sub}/${name}`);
    }
  }
  const path = `${target}/config.yaml`;
  const text = edited(await Deno.readTextFile(path), replace);
  await Deno.writeTextFile(path, text);
  if (!unsigned) return target;
  await Deno.remove(`${target}/config.sig`);
  for (const { name } of Deno.readDirSync(`${target}/checkpoints`)) {
    const checkpoint = `${target}/checkpoints/${name}`;
    const { state, notes } = loadStateSync(checkpoint);
    const inner = notes.notes as { config: string };
    saveStateSync(state, checkpoint, {
      notes: {
        ...notes,
        notes: { ...inner, config: edited(inner.config, replace) },
      },
    });
  }
  return target;
}

/** Each way to act in a run's environment, with what is said of it. */
function commandsOn(folder: string): [string, string[]][] {
  return [
    ["eval", ["eval", folder, "--episodes=1"]],
    ["play", ["play", folder, `--png=${dir}/pictures`]],
    ["resume", ["train", "--resume", folder]],
  ];
}

Deno.test("what a run imports is told first, once it is the user's own", async () => {
  asUser("maker");
  await Deno.remove(`${run}/report.html`);
  for (const [, args] of commandsOn(run)) {
    const { code, err } = await capture(...args);
    assertEquals(code, 0, err);
    assertEquals(err.split("\n")[0], `The run imports file://${module}`);
  }
  const moved = await copyOf(run, { as: "moved" });
  assertEquals((await capture("eval", moved, "--episodes=1")).code, 0);
  const { code, err } = await capture("eval", plain, "--episodes=1");
  assertEquals([code, err], [0, ""]);
});

Deno.test("a run of somebody else's runs no code unless it is trusted", async () => {
  asUser("other");
  for (const [i, [command]] of commandsOn(run).entries()) {
    const marked = `${dir}/marked${i}.ts`;
    const marker = `${dir}/imported${i}`;
    await Deno.writeTextFile(
      marked,
      `Deno.writeTextFileSync("${marker}", "");\nimport "file://${module}";\n`,
    );
    const theirs = await copyOf(run, {
      as: `theirs${i}`,
      unsigned: true,
      replace: [[`file://${module}`, `file://${marked}`]],
    });
    await Deno.remove(`${theirs}/report.html`).catch(() => {});
    const [, args] = commandsOn(theirs)[i];
    const refused = await capture(...args);
    assertEquals(refused, {
      code: 2,
      out: "",
      err:
        `error: Cannot ${command} ${theirs}: it is no run that you made on this machine and would import file://${marked}; read that code first, then add --trust\n`,
    });
    assertEquals(existsSync(marker), false);
    const trusted = await capture(...args, "--trust");
    assertEquals(trusted.code, 0, trusted.err);
    assertStringIncludes(trusted.err, `The run imports file://${marked}\n`);
    assertEquals(existsSync(marker), true);
  }
  // Moved here from where it was made, it is signed, but not by this user.
  const { code, err } = await capture("eval", run);
  assertEquals(code, 2);
  assertStringIncludes(err, "it is no run that you made on this machine");
  assert(!err.includes("was edited"));
});

Deno.test("a run without code needs no trust, wherever it was made", async () => {
  asUser("other");
  for (const [, args] of commandsOn(plain).slice(0, 2)) {
    const { code, err } = await capture(...args);
    assertEquals([code, err], [0, ""]);
  }
});

Deno.test("an algorithm of somebody else's is named, and imported once it is trusted", async () => {
  asUser("maker");
  const algorithm = `${dir}/marked_algorithm.ts`;
  const marker = `${dir}/imported-algorithm`;
  await Deno.writeTextFile(
    algorithm,
    `import { registerAlgorithm } from "${ROOT}cli/mod.ts";
import { a2c } from "${ROOT}algorithms/a2c/mod.ts";
if (!Deno.env.has("MARKED")) registerAlgorithm({ ...a2c, name: "marked" });
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
  asUser("other");
  const url = `file://${algorithm}`;
  // Where nothing of the algorithm is needed, nothing is imported.
  const plot = await capture("plot", out, "--key=eval/return_mean");
  assertEquals([plot.code, plot.err], [0, ""]);
  await Deno.remove(`${out}/report.html`);
  const cases = [
    ...commandsOn(out),
    ["export", ["export", out, `--out=${dir}/marked.onnx`]] as const,
  ];
  for (const [command, args] of cases) {
    const refused = await capture(...args);
    assertEquals(
      refused.err,
      `error: Cannot ${command} ${out}: it is no run that you made on this machine and would import ${url}; read that code first, then add --trust\n`,
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
    `error: Cannot start from ${out}: it is no run that you made on this machine and would import ${url}; read that code first, then add --trust\n`,
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
  asUser("maker");
  const cases: [string, string][] = [
    ["data:text/javascript,console.log(1)", "data:"],
    ["DATA:text/javascript;base64,Y29uc29sZS5sb2coMSk=", "data:"],
    ["' data:text/javascript,console.log(1)'", "data:"],
    ["https://example.com/env.ts", "https:"],
    ["http://127.0.0.1:1/env.ts", "http:"],
    ["blob:null/0c3a", "blob:"],
  ];
  for (const [i, [name, protocol]] of cases.entries()) {
    const theirs = await copyOf(run, {
      as: `remote${i}`,
      unsigned: true,
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
  asUser("maker");
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
    const theirs = await copyOf(plain, {
      as: `python${i}`,
      unsigned: true,
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
  asUser("maker");
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
  asUser("maker");
  const cases = ["envKwargs", "evaluationEnvKwargs"].flatMap((key) =>
    ["/etc/passwd", "../model.xml", "a\\b.xml"].map((it) => [key, it])
  );
  for (const [i, [key, file]] of cases.entries()) {
    const theirs = await copyOf(plain, {
      as: `file${i}`,
      unsigned: true,
      replace: [["env: CartPole-v1", "env: HalfCheetah-v5"], [
        `${key}: {}`,
        `${key}: {xmlFile: '${file}'}`,
      ]],
    });
    for (const [command, args] of commandsOn(theirs).slice(0, 2)) {
      const { code, err } = await capture(...args);
      assertEquals([code, err], [
        2,
        `error: Cannot ${command} ${theirs}: it is no run that you made on this machine and would read the file ${
          JSON.stringify(file)
        }; look at that first, then add --trust\n`,
      ]);
    }
  }
});

Deno.test("an environment of Gymnasium's own needs no trust [Gymnasium]", {
  ignore: !hasGymnasium(),
}, async () => {
  asUser("maker");
  const theirs = await copyOf(plain, {
    as: "python",
    unsigned: true,
    replace: [["env: CartPole-v1", "env: gym:CartPole-v1"]],
  });
  const { code, err } = await capture("eval", theirs, "--episodes=1");
  assertEquals([code, err], [0, ""]);
});

Deno.test("a module of --config is told; --trust is for runs", async () => {
  asUser("maker");
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
  const changed = await copyOf(plain, {
    as: "edited",
    replace: [[/learningRate: .*/, "learningRate: 0.5"], [
      /seed: 0/,
      "seed: 9",
    ]],
  });
  await Deno.remove(`${changed}/report.html`);
  const path = `${changed}/config.yaml`;
  const says =
    `${path} was edited: this resumes with what the run began with, seed (0, not 9), learningRate (0.003, not 0.5); 'train --config ${path}' starts another run\n`;
  for (const user of ["maker", "other"]) {
    asUser(user);
    for (const [, args] of commandsOn(changed)) {
      await Deno.remove(`${changed}/report.html`).catch(() => {});
      const { code, err } = await capture(...args);
      assertEquals(code, 0, err);
      assertStringIncludes(err, says);
    }
  }
  const report = await Deno.readTextFile(`${changed}/report.html`);
  assertStringIncludes(report, "learningRate: 0.003");
  const commented = await copyOf(plain, {
    as: "commented",
    replace: [[/^/, "# my first run\n"]],
  });
  assertEquals((await capture("eval", commented)).err, "");
});

Deno.test("a run goes on without its config.yaml, which is put back", async () => {
  const source = await Deno.readTextFile(`${plain}/config.yaml`);
  for (const damage of ["gone", "broken"]) {
    const damaged = await copyOf(plain, { as: `config-${damage}` });
    const path = `${damaged}/config.yaml`;
    await Deno.remove(`${damaged}/report.html`);
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

Deno.test("a configuration of another run is the damaged one", async () => {
  asUser("maker");
  const other = `${dir}/of-another`;
  const options = ["--env=Acrobot-v1", "--set=normalizeReward=true", ...TINY];
  const made = await capture("train", ...options, "--quiet", "--out", other);
  assertEquals(made.code, 0);
  const cases = [["config.sig"], ["config.sig", "config.yaml"], [
    "config.yaml",
  ]];
  for (const [i, names] of cases.entries()) {
    const mixed = await copyOf(plain, { as: `mixed${i}` });
    for (const name of names) {
      await Deno.copyFile(`${other}/${name}`, `${mixed}/${name}`);
    }
    const commands: [string, string[]][] = [
      ["export", ["export", mixed]],
      ...commandsOn(mixed),
    ];
    for (const [, args] of commands) {
      await Deno.remove(`${mixed}/report.html`).catch(() => {});
      const { code, err } = await capture(...args);
      const told = `${args.join(" ")}: ${err}`;
      assertEquals(code, 0, told);
      const says = `${mixed}/config.sig is of another run`;
      assertEquals(err.includes(says), names.includes("config.sig"), told);
      assertEquals(
        err.includes(`${mixed}/config.yaml was edited`),
        names.includes("config.yaml"),
        told,
      );
    }
  }
  // Nothing is the user's own that another run's signature stands beside.
  const theirs = await copyOf(run, { as: "mixed" });
  await Deno.copyFile(`${other}/config.sig`, `${theirs}/config.sig`);
  const { code, err } = await capture("eval", theirs);
  assertEquals(code, 2);
  assertStringIncludes(err, "it is no run that you made on this machine");
});

Deno.test("a damaged secret is told in one line, and signs nothing", async () => {
  const key = `${dir}/state-damaged/key`;
  await Deno.mkdir(`${dir}/state-damaged`);
  asUser("damaged");
  for (const [i, bytes] of [0, 31, 33, 100_000].entries()) {
    await Deno.writeFile(key, new Uint8Array(bytes));
    const out = `${dir}/unsigned${i}`;
    const line =
      `Cannot use ${key}, which signs your runs: expected 32 bytes, got ${
        bytes > 32 ? "more" : bytes
      }; remove it, and --trust the runs that it signed\n`;
    const made = await capture("train", ...TINY, "--quiet", "--out", out);
    assertEquals([made.code, made.err], [0, line]);
    const { code, err } = await capture("eval", out, "--episodes=1");
    assertEquals([code, err], [0, line]);
    assertStringIncludes(
      await Deno.readTextFile(`${out}/config.sig`),
      "# unsigned\n",
    );
  }
});

/** A task of deno.json, as a person runs it. */
const task = (...args: string[]) =>
  runDeno(args, { command: "task", cwd: ROOT });

Deno.test("export runs no code of a run's, whoever made it", async () => {
  asUser("other");
  const broken = `${dir}/broken.ts`;
  await Deno.writeTextFile(broken, "throw new Error('imported');\n");
  const theirs = await copyOf(run, {
    as: "theirs-to-export",
    unsigned: true,
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
    export: "read,write",
    plot: "read,write",
    list: "read",
    board: "read,127.0.0.1",
    site: "read,write,run",
    ...Object.fromEntries(
      ["train", "experiment", "search", "eval", "play", "share"]
        .map((it) => [it, "read,write,env,sys,run,ffi"]),
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
  if (before === undefined) Deno.env.delete("BELLMAN_STATE");
  else Deno.env.set("BELLMAN_STATE", before);
  Deno.removeSync(dir, { recursive: true });
});
