/**
 * A run folder of somebody else's writes nowhere but into itself, whatever lies
 * in it: links, second names of files, pipes and devices are refused before
 * anything is written or read.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { loadRun } from "@bellman/runs";
import { hasGymnasium } from "@bellman/envs/gymnasium";
import { capture, type Captured } from "../cli/testdata/capture.ts";
import { copyRun, editCheckpoints, editRecord, runProcess } from "./runs.ts";

const test = (name: string, run: () => Promise<void>) =>
  Deno.test(name, { ignore: Deno.build.os === "windows" }, run);
const dir = await Deno.makeTempDir({ prefix: "bellman-strange-" });

/** Files of the user's that nothing may touch. */
const home = `${dir}/home`;
await Deno.mkdir(home);

/** Paths below a folder, with what is there. */
function contentOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (path: string) => {
    for (const entry of Deno.readDirSync(path)) {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory) walk(inner);
      else if (entry.isSymlink) found[inner] = Deno.readLinkSync(inner);
      else found[inner] = entry.isFile ? Deno.readTextFileSync(inner) : "";
    }
  };
  walk(folder);
  return found;
}

const TINY = [
  ...["--backend=cpu", "--steps=40", "--set=evaluationEpisodes=1"],
  ...["--set=numSteps=5", "--quiet"],
];
const run = `${dir}/run`;
assertEquals((await capture("train", ...TINY, "--out", run)).code, 0);

let copies = 0;

/** A copy of the run. */
const copy = () => copyRun(run, `${dir}/copy${copies++}`);

/** Puts something in the place of an entry; folders are moved into the home. */
function plant(path: string, put: (path: string) => void): void {
  try {
    const isFolder = Deno.lstatSync(path).isDirectory;
    if (isFolder) Deno.renameSync(path, `${home}/folder`);
    else Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  put(path);
}

const linkTo = (target: string) => (path: string) =>
  Deno.symlinkSync(target, path);

function makePipe(path: string): void {
  const { success } = new Deno.Command("mkfifo", { args: [path] }).outputSync();
  assert(success);
}

/** Each command that opens a run. */
function commandsOn(folder: string): string[][] {
  return [
    ["train", "--resume", folder, "--steps=80"],
    ["eval", folder, "--episodes=1"],
    ["play", folder],
    ["export", folder],
    ["plot", folder, "--key=eval/return_mean"],
    ["train", ...TINY, `--init-from=${folder}`, `--out=${dir}/never`],
  ];
}

/** Runs a command line in a process of its own, which has so long. */
const inProcess = (args: string[], cwd?: string) =>
  runProcess(args, { cwd, stdin: "null", signal: AbortSignal.timeout(60_000) });

/** Checks that a command is refused in one line, and writes nothing. */
async function checkRefused(
  args: string[],
  { folder, says, act = capture }: {
    folder: string;
    says: string;
    act?: (...args: string[]) => Promise<Captured>;
  },
): Promise<void> {
  const there = [contentOf(home), contentOf(folder)];
  const { code, out, err } = await act(...args);
  const told = `${args.join(" ")}: ${err}`;
  assertEquals([code, out, err.split("\n").length], [2, "", 2], told);
  assertStringIncludes(err, says, told);
  assertEquals([contentOf(home), contentOf(folder)], there, told);
}

const LINKED = [
  ...["config.yaml", "run.json", "progress.csv", "episodes.csv"],
  ...["report.html", "policy.onnx", "run.lock", "play.gif", "replay.rows"],
  ...["config.yaml.tmp", "run.json.tmp", "progress.csv.tmp"],
  ...["episodes.csv.tmp", "report.html.tmp", "policy.onnx.tmp"],
  ...["play.gif.tmp", "eval-return_mean.svg.tmp", "config.yaml.2.tmp"],
  ...["events.out.tfevents.9999999999.bellman", "checkpoints", "videos"],
  ...["plots", "checkpoints/best.safetensors"],
  ...["checkpoints/step_000000040.safetensors"],
  ...["checkpoints/step_000000080.safetensors.tmp", "anything"],
];

for (const name of LINKED) {
  test(`a link in place of ${name} is refused`, async () => {
    const folder = copy();
    const target = `${home}/.bashrc`;
    const isFolder = ["checkpoints", "videos", "plots"].includes(name);
    await Deno.writeTextFile(target, "alias ll='ls -l'\n");
    await Deno.remove(`${home}/folder`, { recursive: true }).catch(() => {});
    plant(`${folder}/${name}`, linkTo(isFolder ? `${home}/folder` : target));
    const says = `${folder}/${name} is a link`;
    for (const args of commandsOn(folder)) {
      await checkRefused(args, { folder, says });
    }
    const error = await loadRun(folder).then(() => "", (it) => it.message);
    assertStringIncludes(error, says);
  });
}

/** What a run is not resumed over, with which words. */
const PLANTED: [
  title: string,
  words: string[],
  plants: { put: (path: string) => void; says: string; names: string[] },
][] = [
  ["a link that leads nowhere", [], {
    put: linkTo(`${home}/.profile`),
    says: "is a link",
    names: ["run.lock", "episodes.csv", "config.yaml.tmp"],
  }],
  ["a second name of a file", [], {
    put: (path) => Deno.linkSync(`${home}/.bashrc`, path),
    says: "has a second name elsewhere",
    names: ["run.json", "episodes.csv", "progress.csv", "run.lock"],
  }],
  ["a link in a run that is trusted", ["--trust"], {
    put: linkTo(`${home}/.bashrc`),
    says: "is a link",
    names: [
      ...["config.yaml.tmp", "run.json.tmp", "report.html.2.tmp"],
      ...["episodes.csv", "progress.csv.tmp", "run.lock"],
    ],
  }],
];

for (const [title, words, { put, says, names }] of PLANTED) {
  test(`${title} is refused as well`, async () => {
    await Deno.writeTextFile(`${home}/.bashrc`, "alias ll='ls -l'\n");
    for (const name of names) {
      const folder = copy();
      const path = `${folder}/${name}`;
      plant(path, put);
      const [resume] = commandsOn(folder);
      await checkRefused([...resume, ...words], {
        folder,
        says: `${path} ${says}`,
      });
    }
  });
}

test("pipes and devices are refused, trusted or not", async () => {
  const names = [
    ...["config.yaml", "run.json", "progress.csv", "episodes.csv"],
    ...["run.lock", "checkpoints/best.safetensors"],
    "checkpoints/step_000000080.safetensors.tmp",
  ];
  for (const [i, name] of names.entries()) {
    const folder = copy();
    plant(`${folder}/${name}`, makePipe);
    const says = `${folder}/${name} is a pipe`;
    const commands = commandsOn(folder);
    if (i % 2 === 1) commands[0].push("--trust");
    const args = commands[i % commands.length];
    await checkRefused(args, {
      folder,
      says,
      act: (...args) => inProcess(args),
    });
    // What has been refused there cannot hang here.
    for (const args of commands) await checkRefused(args, { folder, says });
  }
  const folder = copy();
  let isMade = true;
  plant(`${folder}/run.lock`, (path) => {
    const args = [path, "c", "1", "5"];
    isMade = new Deno.Command("mknod", { args }).outputSync().success;
  });
  // Only root makes devices.
  if (!isMade) return;
  const says = `${folder}/run.lock is a device`;
  for (const args of commandsOn(folder)) {
    await checkRefused(args, { folder, says });
  }
});

test("checkpoints of a run that is trusted may lie on another disk", async () => {
  const folder = copy();
  const elsewhere = `${dir}/elsewhere`;
  await Deno.rename(`${folder}/checkpoints`, elsewhere);
  await Deno.symlink(elsewhere, `${folder}/checkpoints`);
  for (const args of commandsOn(folder)) {
    await checkRefused(args, { folder, says: "checkpoints is a link" });
  }
  const [resume, evaluate] = commandsOn(folder);
  const { code, err } = await capture(...resume, "--quiet", "--trust");
  assertEquals(code, 0, err);
  assert((await Deno.stat(`${elsewhere}/step_000000080.safetensors`)).isFile);
  const moved = await capture(...evaluate, "--trust");
  assertEquals([moved.code, moved.err], [0, ""]);
});

test("a link to a run is taken for the run where that is trusted", async () => {
  const folder = copy(), link = `${dir}/link`;
  await Deno.symlink(folder, link);
  for (const args of commandsOn(link)) {
    await checkRefused(args, { folder, says: `${link} is a link` });
  }
  const [resume] = commandsOn(link);
  const { code, err } = await capture(...resume, "--quiet", "--trust");
  assertEquals(code, 0, err);
});

Deno.test("nothing of the current folder is imported [Gymnasium]", {
  ignore: !hasGymnasium(),
}, async () => {
  const folder = copy();
  const toPython = (text: string) =>
    text.replace("env: CartPole-v1", "env: gym:CartPole-v1");
  const path = `${folder}/config.yaml`;
  await Deno.writeTextFile(path, toPython(await Deno.readTextFile(path)));
  editCheckpoints(folder, toPython);
  editRecord(folder, ({ settings }) => ({
    settings: { ...settings, env: "gym:CartPole-v1" },
  }));
  const here = `${dir}/here`;
  await Deno.mkdir(here);
  const names = "abc contextlib copy ctypes functools gymnasium importlib " +
    "json numpy os pygame random select signal sitecustomize struct " +
    "threading time traceback usercustomize warnings";
  for (const name of names.split(" ")) {
    await Deno.writeTextFile(
      `${here}/${name}.py`,
      `open(${JSON.stringify(`${home}/${name}`)}, "w").close()\n`,
    );
  }
  const there = contentOf(home);
  const { code, err } = await inProcess(["eval", folder, "--episodes=1"], here);
  assertEquals([code, err], [0, ""]);
  assertEquals(contentOf(home), there);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
