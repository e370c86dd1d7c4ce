import { assertEquals, assertThrows } from "@std/assert";
import { SubprocessVecEnv } from "./subprocess_vec_env.ts";
import { testHosted } from "../testdata/hosted_contract.ts";
import { FRAGILE } from "../testdata/hosted_use.ts";
import { leavesNothing } from "../testdata/leftovers.ts";

testHosted(
  "SubprocessVecEnv",
  (source, { groups, ...options }) =>
    new SubprocessVecEnv(source, { ...options, processes: groups }),
  { numRuns: 2 },
);

Deno.test("a process may do no more than it is permitted", () => {
  assertThrows(
    () =>
      new SubprocessVecEnv(FRAGILE, {
        numEnvs: 1,
        permissions: [],
        showOutput: false,
      }),
    Error,
    "Cannot start environment 0: Requires read access",
  );
});

/** Flags for another process, of one with these. */
function flagsOf(...flags: string[]): string[] {
  const script = `
    import { ownPermissions } from "${
    import.meta.resolve("./program_arguments.ts")
  }";
    console.log(JSON.stringify(ownPermissions()));`;
  const program = `data:text/javascript,${encodeURIComponent(script)}`;
  const config = [
    `--config=${new URL("../../../deno.json", import.meta.url).pathname}`,
  ];
  const { stdout } = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--no-prompt", ...config, ...flags, program],
  }).outputSync();
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test("what is denied here in part is not permitted there", () => {
  const own = flagsOf("-A", "--deny-read=/etc", "--deny-net=localhost");
  assertEquals(own.includes("--allow-write"), true);
  assertEquals(own.filter((it) => /read|net/.test(it)), []);
});

Deno.test("the addresses of this machine are permitted there as here", () => {
  const own = flagsOf("--allow-read", "--allow-net=127.0.0.1,example.org");
  assertEquals(own, ["--allow-read", "--allow-net=127.0.0.1"]);
  assertEquals(flagsOf("--allow-net=127.0.0.1:80"), []);
});

Deno.test("processes that cannot be served are one clear error at once", {
  permissions: { run: true },
}, () => {
  assertThrows(
    () => new SubprocessVecEnv("CartPole-v1", { numEnvs: 1 }),
    Deno.errors.NotCapable,
    "Cannot start workers without the permission to read",
  );
});

Deno.test("numbers that cannot be are refused before a process starts", async () => {
  await leavesNothing(() => {
    const refused: [object, string][] = [
      [{ numEnvs: 0 }, "Cannot host 0 environments"],
      [{ numEnvs: 2, processes: 3 }, "Cannot host 2 environments in 3 groups"],
      [{ numEnvs: 2, restarts: 0.5 }, "with restarts 0.5"],
    ];
    for (const [options, message] of refused) {
      assertThrows(
        () => new SubprocessVecEnv("CartPole-v1", options as never),
        RangeError,
        message,
      );
    }
  });
});
