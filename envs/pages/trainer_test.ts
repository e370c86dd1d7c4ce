/** A trainer that is killed, pages that people open, and who is let in. */
import { assertEquals } from "@std/assert";
import { Browser } from "./_browser.ts";
import { Door } from "./_door.ts";
import { inPages, programOf, testInPages } from "./testdata/games.ts";

/** Runs a trainer in a process of its own. */
function trainer(
  id: string,
  options: object,
  env: Record<string, string> = {},
): Deno.ChildProcess {
  const module = new URL("./testdata/play_page.ts", import.meta.url).pathname;
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "-q",
      "--no-check",
      module,
      id,
      JSON.stringify(options),
    ],
    stdout: "piped",
    stderr: "piped",
    env,
  }).spawn();
}

/** Reads the first line of a stream that matches. */
async function lineOf(
  stream: ReadableStream<Uint8Array>,
  pattern: RegExp,
): Promise<RegExpExecArray> {
  let text = "";
  for await (const piece of stream.values({ preventCancel: true })) {
    text += new TextDecoder().decode(piece);
    const found = pattern.exec(text);
    if (found) return found;
  }
  throw new Error(`there is no ${pattern} in ${text}`);
}

/** Counts the processes of a group. */
async function sizeOf(group: number): Promise<number> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-eo", "pgid,stat", "--no-headers"],
  }).output();
  return new TextDecoder().decode(stdout).split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([pgid, state]) => Number(pgid) === group && state[0] !== "Z")
    .length;
}

/** Kills a trainer; waits until nothing of it is left, nor a file. */
async function assertNothingLeft(id: string): Promise<void> {
  // About as long as that of macOS: addresses of sockets may not be much longer.
  const TMPDIR = await Deno.makeTempDir({
    dir: "/tmp",
    prefix: "x".repeat(30),
  });
  const process = trainer(id, { numEnvs: 2 }, { TMPDIR });
  const [line] = await lineOf(process.stdout, /\[.*\]\n/);
  const [group] = JSON.parse(line);
  assertEquals(await sizeOf(group) > 1, true);
  process.kill("SIGKILL");
  await process.status;
  for (let i = 0; i < 100 && await sizeOf(group) > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assertEquals(await sizeOf(group), 0);
  assertEquals([...Deno.readDirSync(TMPDIR)], []);
  await Deno.remove(TMPDIR);
  await Promise.all([process.stdout.cancel(), process.stderr.cancel()]);
}

testInPages(
  "a trainer that is killed leaves no browser",
  () =>
    inPages("counter_game", {}, async ({ url, env }) => {
      await assertNothingLeft(`page:${url}`);
      env.reset();
    }),
);

Deno.test("a trainer that is killed leaves no program", () =>
  assertNothingLeft(programOf("counter_game")));

testInPages(
  "people open pages, of which there may be no more than are waited for",
  () =>
    inPages("counter_game", {}, async ({ url }) => {
      const process = trainer(`page:${url}`, {
        ...{ numEnvs: 2, browser: "none" },
      });
      const [, address] = await lineOf(
        process.stderr,
        /Waiting for a page of environments 0 to 1 of page:\S+: open (\S+)\n/,
      );
      const browser = await Browser.start("auto");
      await browser.open(address);
      const [pids] = await lineOf(process.stdout, /\[.*\]\n/);
      assertEquals(JSON.parse(pids), [0]);
      const socket = new URL(address).searchParams.get("bellman")!;
      const asked = await fetch(socket.replace("ws:", "http:"), {
        headers: { origin: new URL(url).origin },
      });
      assertEquals([asked.status, await asked.text()], [
        ...[409, "All games are there already"],
      ]);
      process.kill("SIGKILL");
      await process.status;
      await Promise.all([process.stdout.cancel(), process.stderr.cancel()]);
      await browser.end();
    }),
);

Deno.test("nobody else is let in", async () => {
  const door = new Door();
  const page = door.expect("http://127.0.0.1:5173"),
    program = door.expect(null);
  const asked = async (address: string, origin?: string): Promise<number> => {
    const response = await fetch(address.replace("ws:", "http:"), {
      headers: { ...origin && { origin } },
    });
    await response.text();
    return response.status;
  };
  assertEquals(await asked(page.address, "http://127.0.0.1:5173"), 426);
  assertEquals(await asked(page.address, "http://127.0.0.1:5174"), 403);
  assertEquals(await asked(page.address), 403);
  assertEquals(await asked(page.address + "0", "http://127.0.0.1:5173"), 403);
  assertEquals(await asked(program.address, "http://127.0.0.1:5173"), 403);
  const { hostname, port } = new URL(program.address);
  using stream = await Deno.connect({ hostname, port: Number(port) });
  await stream.write(
    new TextEncoder().encode("GET / HTTP/1.1\r\nHost: [\r\n\r\n"),
  );
  const bytes = new Uint8Array(12);
  await stream.read(bytes);
  assertEquals(new TextDecoder().decode(bytes), "HTTP/1.1 400");
  const socket = new WebSocket(program.address);
  const connection = await program.connection;
  assertEquals(await asked(program.address), 409);
  program.cancel();
  assertEquals(await asked(program.address), 403);
  const asking = connection.ask("who is there");
  socket.send("I");
  assertEquals([await asking, connection.isEarly], ["I", false]);
  socket.send("I");
  while (!connection.isEarly) await new Promise((it) => setTimeout(it));
  connection.close();
  await new Promise((resolve) => socket.onclose = resolve);
  await door.close();
});
