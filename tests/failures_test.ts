/**
 * What environments and disks do to a run that began well: one line, exit code
 * 1, and a way on that works.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { existsSync } from "node:fs";
import * as captured from "../cli/testdata/capture.ts";
import { mount, testWithDisk } from "./disks.ts";
import { leaveUnevaluated } from "./runs.ts";
import * as processes from "./runs.ts";

const MAIN = new URL("../cli/main.ts", import.meta.url).pathname;
const MODULE = new URL("testdata/failing_env.ts", import.meta.url).pathname;
const dir = await Deno.makeTempDir({ prefix: "bellman-failures-" });
const TINY = [
  ...["--backend=cpu", "--set=numEnvs=2", "--set=evaluationEpisodes=1"],
  ...["--quiet", "--unchecked", "--set=evaluationInterval=0"],
];

/** Leaves out the lines of modules, which other tests hold. */
const withoutLines = <T extends { err: string }>(ran: T): T => ({
  ...ran,
  err: ran.err.replaceAll(/ \(\w+\.ts:\d+\)/g, ""),
});

async function capture(...args: Parameters<typeof captured.capture>) {
  return withoutLines(await captured.capture(...args));
}

async function runProcess(...args: Parameters<typeof processes.runProcess>) {
  return withoutLines(await processes.runProcess(...args));
}

function failing(how: string, out: string): string[] {
  return [
    ...["train", "--env=Failing-v0", `--set=envModules=[${MODULE}]`],
    ...[`--set=envKwargs={how: ${how}}`, "--steps=400", ...TINY],
    ...["--out", out],
  ];
}

Deno.test("what is no environment is refused before there is a folder", async () => {
  const cases: Record<string, string> = {
    "throw on making": "Cannot make the environment Failing-v0: no luck",
    "throw text on making": "Cannot make the environment Failing-v0: no luck",
    "no space":
      "Cannot use the observationSpace of Failing-v0, copy 0: Cannot use undefined as a space: expected one with a known 'type'",
  };
  for (const [how, message] of Object.entries(cases)) {
    const out = `${dir}/never`;
    const { code, err } = await capture(...failing(how, out));
    assertEquals([code, err], [2, `error: ${message}\n`]);
    assertEquals(existsSync(out), false);
  }
});

/** Checks what a run that fails before its start leaves of a folder: it was empty. */
async function assertLeavesEmpty(out: string, cwd?: string): Promise<void> {
  const { mode } = Deno.statSync(out);
  const { isSymlink } = Deno.lstatSync(out);
  const { code, err } = await runProcess(
    failing("throw in logger", cwd === undefined ? out : "."),
    { cwd },
  );
  assertEquals([code, err], [1, "error: no luck\n"]);
  assertEquals([...Deno.readDirSync(out)], []);
  assertEquals(Deno.statSync(out).mode, mode);
  assertEquals(Deno.lstatSync(out).isSymlink, isSymlink);
}

Deno.test(
  "a failure before the start leaves a folder of the user's as it was",
  {
    ignore: Deno.build.os === "windows",
  },
  async () => {
    const own = `${dir}/own`, target = `${dir}/target`, link = `${dir}/link`;
    for (const it of [own, target]) await Deno.mkdir(it, { mode: 0o750 });
    await Deno.symlink(target, link);
    await assertLeavesEmpty(own);
    await assertLeavesEmpty(link);
    await assertLeavesEmpty(own, own);
    // One that the run has made goes.
    const made = `${dir}/made`;
    const { code } = await runProcess(failing("throw in logger", made));
    assertEquals([code, existsSync(made)], [1, false]);
  },
);

Deno.test("whatever a step throws is one line with the way on", async () => {
  const cases: Record<string, string> = {
    "throw null": "null was thrown",
    "throw text": "no luck",
    "throw nothing": "undefined was thrown",
    "throw a numbered error": "5",
    "throw what cannot be read": "something that cannot be shown was thrown",
  };
  for (const [how, message] of Object.entries(cases)) {
    const out = `${dir}/${how.replaceAll(" ", "-")}`;
    const { code, err } = await capture(...failing(how, out));
    assertEquals([code, err.replace(/after \d+ steps/, "after N steps")], [
      1,
      `error: The run of a2c on Failing-v0 failed after N steps: ${message}; resume from step 0 with: deno task train --resume ${out}\n`,
    ]);
  }
});

Deno.test("the way on trusts code that is not of the project, where a run names some", async () => {
  const out = `${dir}/foreign-run`, theirs = `${dir}/theirs.ts`;
  await Deno.copyFile(MODULE, theirs);
  const words = failing("throw text, after: 100", out)
    .map((it) => it.replace(MODULE, theirs));
  const { code, err } = await runProcess(words);
  assertEquals(code, 1, err);
  const [, resumed] = /with: deno task (.*)\n$/.exec(err)!;
  assertEquals(resumed, `train --resume ${out} --trust`);
  const again = await runProcess([...resumed.split(" "), "--quiet"]);
  assertMatch(again.err, /failed after \d+ steps: no luck/);
});

Deno.test("an environment that ends the process does not end the run in silence", async () => {
  for (const how of ["exit", "exit with 3", "exit of Node"]) {
    const out = `${dir}/${how.replaceAll(" ", "-")}`;
    const { code, err } = await runProcess(failing(how, out));
    assertEquals(code, 1, err);
    assertMatch(
      err,
      /error: The run of a2c on Failing-v0 failed after \d+ steps: its code ended the process, as Deno\.exit\(\) does; resume from step 0 with: deno task train --resume /,
    );
  }
});

Deno.test("an exit in the last evaluation, or of a worker each time, is one line with the way on", async () => {
  const cases: [string, string[], RegExp][] = [
    ...["exit", "exit with 3"].map((how) =>
      [
        "last",
        [`--set=evaluationEnvKwargs={how: ${how}, after: 5}`],
        /failed after 400 steps: its code ended the process, as Deno\.exit\(\) does; resume from step 400 with: /,
      ] as [string, string[], RegExp]
    ),
    [
      "close the worker, after: 2",
      [
        "--set=vectorization=workers",
        "--set=workers=2",
        "--set=stepTimeout=0.1",
      ],
      /failed after \d+ steps: Cannot go on with environment \d of Failing-v0: it was restarted 10 times within 600 s, and now it gave no answer within 100 ms; resume from step 0 with: /,
    ],
  ];
  for (const [i, [how, args, line]] of cases.entries()) {
    const { code, out, err } = await runProcess(
      [...failing(how, `${dir}/ending-${i}`), ...args],
    );
    assertEquals([code, out], [1, ""], err);
    assertMatch(err.trimEnd().split("\n").at(-1)!, line);
  }
});

Deno.test("an environment that cannot be closed does not cost the run", async () => {
  const out = `${dir}/closing`;
  const { code, err } = await capture(...failing("throw on closing", out));
  assertEquals(code, 0, err);
  assertStringIncludes(err, "Cannot close the environment: no luck\n");
  assert(existsSync(`${out}/report.html`));
});

Deno.test("the way on is words that a shell reads as they are", async () => {
  const out = `${dir}/it's a run`;
  const { code, err } = await capture(...failing("throw null", out));
  assertEquals(code, 1);
  const word = err.trimEnd().split("--resume ")[1];
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `printf %s ${word}`],
  }).output();
  assertEquals(new TextDecoder().decode(stdout), out);
});

Deno.test("what nothing can catch stops the run, which is saved", async () => {
  const cases: Record<string, string> = {
    "reject": "no luck",
    "reject nothing": "undefined was thrown",
    "throw in timer": "no luck",
  };
  await Promise.all(
    Object.entries(cases).map(async ([how, message]) => {
      const out = `${dir}/${how.replaceAll(" ", "-")}`;
      const failed = await runProcess(failing(how, out));
      assertEquals([failed.code, failed.out], [1, ""], failed.err);
      const line =
        /^error: The run of a2c on Failing-v0 failed after \d+ steps: (.*); resume from step (\d+) with: deno task train --resume (.*)\n$/
          .exec(failed.err);
      assertEquals(line?.[1], message, failed.err);
      assert(Number(line?.[2]) >= 100);
      assertEquals(line?.[3], out);
      assertEquals(existsSync(`${out}/report.html`), false);
    }),
  );
  // It fails anew at its hundredth step, and does not take that many at last.
  const args = ["train", "--resume", `${dir}/reject`, "--quiet"];
  let resumed = await runProcess(args);
  for (let step = 0; resumed.code !== 0;) {
    const line =
      /failed after \d+ steps: no luck; resume from step (\d+) with: /;
    const next = Number(line.exec(resumed.err)?.[1]);
    assert(next > step, resumed.err);
    step = next;
    resumed = await runProcess(args);
  }
  assertMatch(resumed.out, /Best agent/);
  const evaluated = await runProcess(
    ["eval", `${dir}/reject`, "--episodes=100"],
  );
  assertEquals([evaluated.code, evaluated.err], [
    1,
    `The run imports file://${MODULE}\nerror: Failed where nothing could catch it: no luck\n`,
  ]);
});

Deno.test({
  name: "no room at the end of a run is one line with the way on [Linux]",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const out = `${dir}/full`;
    // Larger than the run's record, which is written before.
    const network = "--set=hiddenSizes=[64,64]";
    const args = ["train", "--steps=40", network, ...TINY, "--out", out];
    assertEquals((await capture(...args)).code, 0);
    for (const name of ["policy.onnx", "report.html"]) {
      // Room for what is written before, in half kibibytes.
      const blocks = Math.floor(Deno.statSync(`${out}/${name}`).size / 512) - 1;
      leaveUnevaluated(out);
      const resume = [Deno.execPath(), "run", "-A", "-q", "--no-check", MAIN]
        .concat("train", "--resume", out, "--quiet");
      const ended = await new Deno.Command("sh", {
        args: [
          ...["-c", `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`, "sh"],
          ...resume,
        ],
        env: { NO_COLOR: "1" },
      }).output();
      const err = new TextDecoder().decode(ended.stderr);
      assertEquals([ended.code, err], [
        1,
        `error: The run of a2c on CartPole-v1 failed after 40 steps: Cannot use the file ${out}/${name}: it would be too large; resume from step 40 with: deno task train --resume ${out}\n`,
      ]);
      const left = [...Deno.readDirSync(out)].map((it) => it.name);
      assertEquals(left.filter((it) => it.endsWith(".tmp")), []);
      assertEquals(existsSync(`${out}/report.html`), false);
      const again = await capture("train", "--resume", out, "--quiet");
      assertEquals([again.code, again.err], [0, ""]);
    }
  },
});

testWithDisk(
  "a disk that fills up during a run loses nothing that was saved",
  "size=300k",
  async (disk) => {
    const out = `${disk}/run`;
    const args = [
      ...["train", "--steps=4000", "--set=checkpointInterval=200"],
      ...["--set=keepCheckpoints=1000", ...TINY.slice(1), "--out", out],
    ];
    const { code, err } = await capture(...args);
    assertEquals(code, 1);
    const line =
      /^error: The run of a2c on CartPole-v1 failed after \d+ steps: Cannot use .*: the disk is full; resume from step (\d+) with: deno task train --resume .*\n$/
        .exec(err);
    assert(Number(line?.[1]) > 0, err);
    await mount(disk, "remount,size=20m");
    const resumed = await capture("train", "--resume", out, "--quiet");
    assertEquals([resumed.code, resumed.err], [0, ""]);
    const whole = `${dir}/whole`;
    assertEquals((await capture(...args.slice(0, -1), whole)).code, 0);
    assertEquals(
      await Deno.readTextFile(`${out}/episodes.csv`),
      await Deno.readTextFile(`${whole}/episodes.csv`),
    );
  },
);

testWithDisk(
  "a disk that may only be read is told as such",
  "ro",
  async (disk) => {
    const out = `${disk}/run`;
    const { code, err } = await capture("train", ...TINY, "--out", out);
    assertEquals([code, err], [
      2,
      `error: Cannot use the file ${out}: it is on a disk that may only be read\n`,
    ]);
  },
);

testWithDisk(
  "a failure before the start leaves a mounted folder as it was",
  "size=20m",
  (disk) => assertLeavesEmpty(disk),
);

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
