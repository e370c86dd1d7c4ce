/** A bandit whose process is killed many times decides as one that was left alone. */
import { SeededRandom } from "@bellman/envs";
import { assert, assertEquals } from "@std/assert";

const PROGRAM = new URL("../testdata/killed_bandit.ts", import.meta.url);
const COUNT = 6_000, KILLS = 50;

function start(file: string): Deno.ChildProcess {
  const args = ["run", "-A", "-q", "--no-check", PROGRAM.pathname];
  return new Deno.Command(Deno.execPath(), {
    args: [...args, file, `${COUNT}`],
    stdout: "piped",
  }).spawn();
}

Deno.test("50 kills change no decision", async () => {
  const dir = await Deno.makeTempDir({ prefix: "bellman-bandit-" });
  const whole = await start(`${dir}/whole`).output();
  const random = new SeededRandom(1), file = `${dir}/killed`;
  let kills = 0, last: Deno.CommandOutput;
  do {
    const child = start(file);
    const began = Promise.withResolvers<void>();
    // From where it saves, which takes a while from the start.
    const before = Deno.statSync(dir).mtime!.getTime();
    const look = setInterval(() => {
      if (Deno.statSync(dir).mtime!.getTime() !== before) began.resolve();
    }, 1);
    const output = child.output();
    await Promise.race([began.promise, output]);
    clearInterval(look);
    await new Promise((resolve) => setTimeout(resolve, 20 * random.uniform()));
    try {
      if (kills < KILLS) child.kill("SIGKILL");
    } catch {
      // It had ended.
    }
    last = await output;
    if (last.code !== 0) kills++;
  } while (last.code !== 0);
  assert(kills === KILLS, `only ${kills} kills`);
  const textOf = (it: Deno.CommandOutput) =>
    new TextDecoder().decode(it.stdout);
  assertEquals(textOf(last), textOf(whole));
  await Deno.remove(dir, { recursive: true });
});
