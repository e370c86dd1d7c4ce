/**
 * Starts of runs that something stops: signals before the first step, disks that
 * are full, what never ends, and what is too long to be told.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import { testWithDisk } from "./disks.ts";
import { runProcess, trainProcess } from "./runs.ts";

const TINY = [
  ...["--backend=cpu", "--steps=40", "--set=evaluationEpisodes=1"],
  ...["--set=numSteps=5", "--quiet"],
];
const IGNORE = Deno.build.os === "windows";
const dir = await Deno.makeTempDir({ prefix: "bellman-starts-" });

Deno.test("a signal before the first step ends a run as later ones do", {
  ignore: IGNORE,
}, async () => {
  const codes = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    const out = `${dir}/${signal}`;
    const module = `${dir}/${signal}.ts`, goOn = `${dir}/${signal}-goes-on`;
    // It stands for all that takes its time before there is a run.
    await Deno.writeTextFile(
      module,
      `import { CART_POLE, DynamicsEnv, register } from "${
        new URL("../envs/mod.ts", import.meta.url).href
      }";
import { existsSync } from "node:fs";
console.error("loading");
while (!existsSync("${goOn}")) await new Promise((done) => setTimeout(done, 10));
register({ id: "Late-v0", maxEpisodeSteps: 20, make: () => new DynamicsEnv(CART_POLE) });
`,
    );
    const child = trainProcess([
      ...[...TINY, "--out", out, "--env=Late-v0"],
      `--set=envModules=[${module}]`,
    ]).spawn();
    const [first, second] = child.stderr.tee();
    const reader = first.pipeThrough(new TextDecoderStream()).getReader();
    let said = "";
    const hears = async (words: string) => {
      while (!said.includes(words)) {
        const { value, done } = await reader.read();
        assert(!done, said);
        said += value;
      }
    };
    await hears("loading");
    child.kill(signal);
    // It is heard while the module is still loaded.
    await hears("a second Ctrl-C ends the run at once\n");
    await Deno.writeTextFile(goOn, "");
    const rest = reader.cancel();
    const [{ code }, printed, err] = await Promise.all([
      child.status,
      new Response(child.stdout).text(),
      new Response(second).text(),
    ]);
    await rest;
    assertEquals(code, codes[signal], err);
    assertStringIncludes(printed, "Interrupted at step 0; everything is saved");
    const resumed = await runProcess(
      ["eval", out, "--episodes=1", "--trust"],
    );
    assertEquals(resumed.code, 0, resumed.err);
  }
});

for (const pages of [1, 2, 3, 4, 5, 6, 8, 12]) {
  testWithDisk(
    `a disk of ${
      4 * pages
    } kB that is full before the first step leaves no folder`,
    `size=${4 * pages}k`,
    async (disk) => {
      const { code, err } = await runProcess([
        "train",
        ...TINY,
        "--out",
        `${disk}/run`,
      ]);
      const [line] = err.split("\n");
      assertStringIncludes(line, "the disk is full", err);
      // What has begun has a checkpoint to go on from.
      const hasBegun = line.includes("resume from step");
      assertEquals(existsSync(`${disk}/run/config.yaml`), hasBegun, err);
      assertEquals(code, hasBegun ? 1 : 2, err);
    },
  );
}

Deno.test("what would never end is refused in one line", {
  ignore: IGNORE,
}, async () => {
  const pipe = `${dir}/pipe.yaml`;
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const out = `--out=${dir}/never`;
  const ones = Array(20_001).fill(1).join();
  const cases: [string[], string][] = [
    [
      ["--config=/dev/zero"],
      "the configuration file /dev/zero: it is a device",
    ],
    [[`--config=${pipe}`], `the configuration file ${pipe}: it is a pipe`],
    [
      ["--set=envModules=[/dev/zero]"],
      "Cannot import /dev/zero, which envModules",
    ],
    [[`--set=algorithmModules=[${pipe}]`], `Cannot import ${pipe}, which algo`],
    [
      [`--set=hiddenSizes=[${ones}]`],
      "expected a list of at most 100, each an",
    ],
    [["--set=envKwargs=&a {b: *a}"], "expected a YAML value"],
  ];
  for (const [args, says] of cases) {
    const { code, out: printed, err } = await runProcess([
      "train",
      ...args,
      out,
    ]);
    assertEquals([code, printed], [2, ""], err);
    assertStringIncludes(err, says);
    assertEquals(err.split("\n").length, 2, err);
    assert(err.length < 2100);
    assert(!existsSync(`${dir}/never`));
  }
});

Deno.test("lines that quote what is long or commands a terminal are lines", async () => {
  const long = "x".repeat(100_000), words = "ab ".repeat(30_000);
  const cases: string[][] = [
    ["train", `--env=${long}`],
    ["train", `--set=${long}=3`],
    ["train", `--set=numEnvs=${words}`],
    ["train", `--preset=${words}`],
    ["train", `--set=envModules=[${long}]`],
    ["eval", long],
    [long],
    ["train", `--${long}`],
    ["train", "--env=\x1b]0;title\x07\x1b[31mCart\u202ePole"],
  ];
  for (const args of cases) {
    const { code, err } = await runProcess([...args]);
    assertEquals(code, 2, err);
    assert(
      err.length < 2100,
      `${err.length}: ${args[0]} ${args[1]?.slice(0, 30)}`,
    );
    assert(err.startsWith("error: ") && err.split("\n").length === 2);
    // deno-lint-ignore no-control-regex -- those are what is looked for
    assert(!/[\x00-\x09\x0b-\x1f\u202e]/.test(err), err);
  }
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
