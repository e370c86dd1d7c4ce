/** The bench of GPUs: packed, unpacked and run on the CPU, as where there is no Deno. */
import { isXlaInstalled } from "@bellman/compute/xla";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { ROOT } from "../tools/packages.ts";

async function run(program: string, args: string[], cwd: string = ROOT) {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    // Nothing of Deno's is in these folders.
    env: { NO_COLOR: "1", PATH: "/usr/bin:/bin" },
  }).output();
  const [out, err] = [stdout, stderr].map((it) => new TextDecoder().decode(it));
  return { code, out, err };
}

const MAIN = `${ROOT}tests/peers/gpu/main.ts`;
const bench = (...args: string[]) =>
  run(Deno.execPath(), ["run", "-q", "--no-check", "-P=bench", MAIN, ...args]);

Deno.test({
  name: "the packed bench runs without Deno, its figures stand alone [XLA]",
  ignore: !isXlaInstalled() || Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "bellman-bench-gpu-" });
    try {
      const packed = await bench("--pack", `${folder}/bench.tar.gz`);
      assertEquals([packed.code, packed.err], [0, ""]);
      // What a machine is given may be limited to 64 MiB.
      assert(Deno.statSync(`${folder}/bench.tar.gz`).size < 2 ** 26);
      await run("tar", ["-xzf", "bench.tar.gz"], folder);
      const none = `${folder}/none`;
      const { code, out, err } = await run(
        `${folder}/bench_gpu/run`,
        ["--device", "cpu", "--smoke", "--python", none],
        folder,
      );
      assertEquals([code, err], [0, ""], out);
      assertMatch(out, /^All fixtures of \S+ pass on the device\.\n/);
      const rows = out.split("\n").filter((it) => it.startsWith("| "));
      assertEquals(rows.length, 8);
      for (const row of rows.slice(2)) {
        assertMatch(row, /^\| .* \| (ms|steps\/s) \| [\d,.]+ (\| - ){4}\|$/);
      }
      assertMatch(out, new RegExp(`^jax, .*: ${none} has no jax, `, "m"));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("what the bench of GPUs cannot do is one line", async () => {
  for (
    const [args, told] of [
      [["a3c"], "Cannot bench 'a3c': expected fixtures, a2c, ppo, sac"],
      [["--device=tpu"], "Cannot bench --device tpu: expected cuda or cpu"],
      [["--smok"], "Unknown option '--smok': usage: deno task bench:gpu"],
    ] as const
  ) {
    const { code, err } = await bench(...args);
    assertEquals([code, err.trim().split("\n").length], [2, 1]);
    assert(err.startsWith(told), err);
  }
});
