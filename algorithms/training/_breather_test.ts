import { assert } from "@std/assert";

Deno.test({
  name: "a signal is heard within a few turns",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const program = new URL("testdata/signal_turns.ts", import.meta.url);
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "--no-check", "-A", program.pathname],
    }).output();
    const turns = Number(new TextDecoder().decode(stdout));
    assert(turns >= 1 && turns <= 8, `${turns} turns`);
  },
});
