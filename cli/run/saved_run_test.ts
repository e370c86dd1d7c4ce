import { createRunFolder } from "@bellman/training";
import { assertEquals } from "@std/assert";
import { openRun } from "./saved_run.ts";

Deno.test("logInterval of a run of before, which counted updates, is the default", async () => {
  const dir = await Deno.makeTempDir();
  const intervalOf = async (name: string, configText: string) => {
    createRunFolder(`${dir}/${name}`, { configText });
    return (await openRun(`${dir}/${name}`)).config.logInterval;
  };
  const former = "algorithm: a2c\nenv: CartPole-v1\nlogInterval: 100\n";
  assertEquals(await intervalOf("former", former), null);
  assertEquals(await intervalOf("now", `${former}infoStatistics: []\n`), 100);
  await Deno.remove(dir, { recursive: true });
});
