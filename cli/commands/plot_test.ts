import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createRunFolder } from "@bellman/training";
import { capture } from "../testdata/capture.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-plot-" });

/** A run folder, with what it has logged. */
async function runWith(name: string, progress?: string): Promise<string> {
  const folder = createRunFolder(`${dir}/${name}`, {
    configText: `algorithm: a2c\nenv: CartPole-v1\ngamma: 0.${name.length}\n`,
  });
  if (progress !== undefined) {
    await Deno.writeTextFile(folder.progressPath, progress);
  }
  return folder.dir;
}

const logged = await runWith(
  "whole",
  "total_timesteps,eprewmean\n100,20\n200,30\n",
);
const failed = await runWith("failed");
const empty = await runWith("started", "");

Deno.test("plot skips runs that have logged nothing, with a notice", async () => {
  const paths = [`${dir}/both.svg`, `${dir}/alone.svg`];
  const both = await capture("plot", failed, logged, empty, "--out", paths[0]);
  assertEquals(both.code, 0, both.err);
  const skipped = [failed, empty]
    .map((it) => `Skipped ${it}: nothing has been logged yet\n`);
  assertEquals(both.err, skipped.join(""));
  const alone = await capture("plot", logged, "--out", paths[1]);
  assertEquals([alone.code, alone.err], [0, ""]);
  const [svg, wanted] = await Promise.all(
    paths.map((it) => Deno.readTextFile(it)),
  );
  assertEquals(svg, wanted);
});

Deno.test("plot of runs that have all logged nothing is one clear line", async () => {
  const { code, err } = await capture("plot", failed, empty);
  assertEquals(code, 2);
  assertStringIncludes(err, "Cannot plot 'eprewmean' of ");
  assertStringIncludes(err, "nothing has been logged yet");
  assert(!err.includes("Skipped"));
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
