import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { capture } from "../testdata/capture.ts";
import {
  HEADER,
  makeRun,
  rowsOf,
} from "../../lab/runs/folder/testdata/folders.ts";

const root = await Deno.makeTempDir({ prefix: "bellman-board-command-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

Deno.test("bad command lines are told in a line", async () => {
  const fails = async (...args: string[]) => {
    const { code, err } = await capture("board", ...args);
    assertEquals(code, 2);
    return err;
  };
  assertStringIncludes(await fails("--port", "x"), "from 0 to 65535");
  assertStringIncludes(await fails("--port=65536"), "from 0 to 65535");
  assertStringIncludes(await fails("--host=0.0.0.0"), "Unknown option");
  Deno.writeTextFileSync(`${root}/file`, "");
  assertStringIncludes(await fails(`${root}/file`), "expected a folder");
  assertStringIncludes(await fails(""), "expected a folder");
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(),
  );
  const { port } = server.addr;
  assertStringIncludes(
    await fails(root, `--port=${port}`),
    `port ${port}: another program has it; expected a free port`,
  );
  await server.shutdown();
});

Deno.test(
  "the task shows folders that appear, may read alone, and ends at once",
  {
    ignore: Deno.build.os === "windows",
  },
  async () => {
    const later = `${root}/later`;
    const args = ["task", "-q", "board", later, "--port=0"];
    const child = new Deno.Command("setsid", {
      args: [Deno.execPath(), ...args],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      cwd: new URL("../..", import.meta.url),
    }).spawn();
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("Ctrl-C")) text += (await lines.read()).value ?? "";
    assertMatch(text, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}\n/);
    assertStringIncludes(text, `Shows ${later} (${later}: not there yet)`);
    const url = text.split("\n")[0];
    const { headers } = await fetch(url, { redirect: "manual" });
    const cookie = headers.get("set-cookie")!.split(";")[0];
    const get = (path: string) =>
      fetch(new URL(path, url), { headers: { cookie } });
    const page = await get("/board.js");
    assertEquals([page.status, (await page.text()).length > 1000], [200, true]);
    const runs = async () => {
      // Nobody looks at the folders again at once.
      await new Promise((resolve) => setTimeout(resolve, 400));
      return (await (await get("/api/runs")).json()).changed;
    };
    assertEquals(await runs(), []);
    makeRun(`${later}/run`, { log: `${HEADER}\n${rowsOf(0, 5)}` });
    const [{ id, step, name, root: shown }] = await runs();
    assertEquals([step, name, shown], [50, "run", later]);
    const files = await (await get(`/api/runs/${id}`)).json();
    assertEquals(files.length, 2);
    // As the terminal does.
    Deno.kill(-child.pid, "SIGINT");
    await child.status;
    await lines.cancel();
  },
);
