import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  HEADER,
  makePipe,
  makeRun,
  rowsOf,
} from "../runs/folder/testdata/folders.ts";
import type { RunsAnswer, ShownFolder } from "./answers.ts";
import { serveBoard } from "./server.ts";
import { ask, askedBoard } from "./testdata/requests.ts";

const top = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-board-server-" }),
);
const root = `${top}/runs`;
const SECRET = "only the owner knows";
Deno.writeTextFileSync(`${top}/secret.txt`, SECRET);
makeRun(`${root}/good`, {
  log: `${HEADER}\n${rowsOf(0, 50)}`,
  stopped: "completed",
});
const board = await askedBoard([root]);
const { port, cookie } = board;
const HOST = `Host: 127.0.0.1:${port}`;
const COOKIE = `Cookie: ${cookie}`;

/** Returns the status of an answer. */
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);

const request = (path: string, ...lines: string[]) =>
  ask(port, [`GET ${path} HTTP/1.1`, HOST, COOKIE, ...lines]);

/** Waits until the list has a run, and returns all by their names. */
async function shown(wanted = "good"): Promise<Map<string, ShownFolder>> {
  for (let tries = 0; tries < 100; tries++) {
    const { changed }: RunsAnswer = await (await board.get("/api/runs")).json();
    const found = new Map(changed.map((it) => [it.name, it]));
    if (found.has(wanted)) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${wanted} does not come`);
}

Deno.test("the address is traded for a cookie, without which there is nothing", async () => {
  const { token } = Object.fromEntries(new URL(board.url).searchParams);
  assertMatch(token, /^[0-9a-f]{32}$/);
  const traded = await ask(port, [`GET /?token=${token} HTTP/1.1`, HOST]);
  assertEquals(statusOf(traded), 303);
  assertMatch(traded, /\r\nlocation: \/\r\n/);
  assertMatch(
    traded,
    new RegExp(
      `set-cookie: bellman-board-${port}=[0-9a-f]{32}; HttpOnly; SameSite=Strict; Path=/\r\n`,
    ),
  );
  assert(!cookie.includes(token), "the cookie is the token");
  const paths = ["/", "/board.js", "/api/runs", "/api/curves", "/none"];
  const wrong = [
    [],
    ["Cookie: "],
    [`Cookie: bellman-board-${port}=`],
    [`Cookie: bellman-board-${port}=${token}`],
    [`Cookie: ${cookie.slice(0, -1)}`],
    [`Cookie: ${cookie}0`],
    [`Cookie: x${cookie}`],
    [`Cookie: bellman-board-${port + 1}=${cookie.split("=")[1]}`],
  ];
  for (const path of paths) {
    for (const lines of wrong) {
      const text = await ask(port, [`GET ${path} HTTP/1.1`, HOST, ...lines]);
      assertEquals(statusOf(text), 403, `${path} ${lines}`);
      assert(!text.includes("set-cookie"));
    }
  }
  for (const given of ["", token.slice(1), `${token}0`, token.toUpperCase()]) {
    if (given === token) continue;
    const text = await ask(port, [`GET /?token=${given} HTTP/1.1`, HOST]);
    assertEquals(statusOf(text), 403, given);
  }
  assertEquals(statusOf(await request("/", "Cookie: a=b")), 200);
});

Deno.test("other hosts, sites, origins and methods are refused, whatever else they have", async () => {
  const hosts = [
    ["Host: evil.example"],
    [`Host: evil.example:${port}`],
    ["Host: 127.0.0.1"],
    ["Host: localhost"],
    [`Host: 127.0.0.1:${port + 1}`],
    [`Host: 127.0.0.1:${port}.evil`],
    [`Host: 127.0.0.1:${port}x`],
    [`Host: ${"\xff".repeat(9)}`],
    ["Host: a b"],
    ["Host: evil.example", HOST],
    [`Host: 127.0.0.1.evil.example:${port}`],
    [`Host: 0.0.0.0:${port}`],
    [`Host: [::1]:${port}`],
    ["Host: "],
    [HOST, "Host: evil.example"],
  ];
  for (const lines of hosts) {
    const text = await ask(port, ["GET / HTTP/1.1", ...lines, COOKIE]);
    assert([400, 421].includes(statusOf(text)), `${lines}: ${text}`);
    assert(!text.includes("<main"), text);
  }
  // The line's own host is not what counts.
  const absolute = `GET http://127.0.0.1:${port}/ HTTP/1.1`;
  const text = await ask(port, [absolute, "Host: evil.example", COOKIE]);
  assertEquals(statusOf(text), 421);
  for (const name of ["127.0.0.1", "localhost"]) {
    const lines = [`Host: ${name}:${port}`, COOKIE];
    assertEquals(statusOf(await ask(port, ["GET / HTTP/1.1", ...lines])), 200);
  }
  for (const site of ["cross-site", "same-site", "", "x"]) {
    const text = await request("/", `Sec-Fetch-Site: ${site}`);
    assertEquals(statusOf(text), 403, site);
  }
  for (const site of ["same-origin", "none"]) {
    assertEquals(statusOf(await request("/", `Sec-Fetch-Site: ${site}`)), 200);
  }
  for (
    const origin of ["null", "http://evil.example", `https://127.0.0.1:${port}`]
  ) {
    const text = await request("/", `Origin: ${origin}`);
    assertEquals(statusOf(text), 403, origin);
  }
  const methods = [
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "OPTIONS",
    "TRACE",
    "BREW",
  ];
  for (const method of methods) {
    for (const path of ["/", "/api/runs"]) {
      const text = await ask(port, [
        `${method} ${path} HTTP/1.1`,
        HOST,
        COOKIE,
      ]);
      // The last one is none that HTTP knows.
      assert([405, 400].includes(statusOf(text)), method);
      assert(!/access-control/i.test(text));
    }
  }
  const head = await ask(port, ["HEAD /board.js HTTP/1.1", HOST, COOKIE]);
  assertEquals([statusOf(head), head.split("\r\n\r\n")[1]], [200, ""]);
});

Deno.test("all answers have the headers that keep scripts and other pages out", async () => {
  for (const path of ["/", "/board.js", "/api/runs", "/none", "/?token=0"]) {
    const { headers, body } = await board.get(path);
    await body?.cancel();
    assertStringIncludes(
      headers.get("content-security-policy")!,
      "default-src 'none'; script-src 'self'; style-src 'self';",
    );
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("cross-origin-resource-policy"), "same-origin");
    assertEquals(headers.get("cross-origin-opener-policy"), "same-origin");
    assertEquals(headers.get("referrer-policy"), "no-referrer");
    assertEquals(headers.get("cache-control"), "no-store");
    assertEquals(headers.get("access-control-allow-origin"), null);
  }
  const page = await (await board.get("/")).text();
  assert(!/<script>|style=|<style|\son\w+=/.test(page), page);
});

Deno.test("paths lead to the board's own names alone", async () => {
  const [good] = (await shown()).values();
  const long = "a".repeat(8_000);
  const paths = [
    "/secret.txt",
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/%2e%2e%2fsecret.txt",
    "/..%2f..%2fetc%2fpasswd",
    "/api/runs/../../secret.txt",
    "/api/runs/good",
    "/api/runs/..%2Fgood",
    `/api/runs/${good.id}/../../../secret.txt`,
    `/api/runs/${good.id}/videos/..%2f..%2f..%2fsecret.txt`,
    `/api/runs/${good.id}/videos/../../secret.gif`,
    `/api/runs/${good.id}/..%2f..%2fsecret.gif`,
    `/api/runs/${good.id}/report%00.html`,
    `/api/runs/${good.id}/progress.csv`,
    `/api/runs/${good.id}/checkpoints/best.safetensors`,
    `/api/runs/${good.id}/config.yaml`,
    `/api/runs/${good.id}/`,
    "/api/runs/__proto__",
    "/api/runs/constructo",
    "/api/runs/0123456789",
    "/worker.js",
    "/texts.json",
    "//board.js",
    "/%00",
    "/board.js%00",
    `/${"%2e%2e/".repeat(200)}etc/passwd`,
  ];
  for (const path of paths) {
    const text = await request(path);
    assert([400, 404].includes(statusOf(text)), `${path}: ${text}`);
    assert(!text.includes(SECRET) && !text.includes("root:"), path);
  }
  for (const path of [`/${long}`, `/api/runs?${long}`, `/?token=${long}`]) {
    assertEquals(statusOf(await request(path)), 414);
  }
  // Bytes that no line of a request has.
  for (const path of ["/\0", "/\x01", "/a b", "/\xff"]) {
    const text = await request(path);
    assert(!text.includes(SECRET) && statusOf(text) !== 500, path);
  }
  assertEquals(statusOf(await request("/")), 200);
});

Deno.test("curves that nobody can be sent are refused", async () => {
  for (
    const query of [
      "runs=a&since=-1",
      "runs=a&since=0.5",
      "runs=a&since=x",
      "runs=a,b&since=0",
      "runs=a&since=0&rows=1",
      "runs=a&since=0&rows=20000",
      "runs=a&since=0&rows=x",
      `runs=${"a,".repeat(600)}&since=0`,
      `runs=a&since=0${"&keys=a".repeat(33)}`,
    ]
  ) {
    const response = await board.get(`/api/curves?${query}`);
    assertEquals(response.status, 400, query);
    await response.body?.cancel();
  }
  const none = await board.get("/api/curves?runs=0123456789&since=0&keys=%25");
  assertEquals(await none.json(), {});
});

Deno.test("rows are sent from one on, and what changed since a version", async () => {
  const [{ id, step, return: mean }] = [(await shown()).get("good")!];
  assertEquals([step, mean], [500, 48]);
  const rows = async (since: number) => {
    const query = `runs=${id}&since=${since}&keys=eval/return_mean`;
    return await (await board.get(`/api/curves?${query}`)).json();
  };
  const { [id]: all } = await rows(0);
  assertEquals([all.from, all.next, all.steps.length], [0, 50, 50]);
  assertEquals(all.values["eval/return_mean"].slice(8, 10), [null, 4.5]);
  assertEquals(await rows(50), {});
  const since = async (version: number): Promise<RunsAnswer> =>
    await (await board.get(`/api/runs?since=${version}`)).json();
  const { version } = await since(0);
  await new Promise((resolve) => setTimeout(resolve, 400));
  assertEquals((await since(version)).changed, []);
  const path = `${root}/good/progress.csv`;
  Deno.writeTextFileSync(path, rowsOf(50, 51), { append: true });
  await new Promise((resolve) => setTimeout(resolve, 400));
  const { changed, ids } = await since(version);
  assertEquals([changed.map((it) => it.step), ids], [[510], [id]]);
  assertEquals((await rows(50))[id].steps, [510]);
  // A log that was cut back.
  Deno.writeTextFileSync(path, `${HEADER}\n${rowsOf(0, 5)}`);
  assertEquals((await rows(51))[id].from, 0);
});

Deno.test("half requests and idle connections end, and never more than it takes", async () => {
  const connect = async (text: string) => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    await connection.write(new TextEncoder().encode(text)).catch(() => {});
    return connection;
  };
  const halves = ["", "G", "GET / HT", `GET / HTTP/1.1\r\n${HOST}\r\nX: `];
  const held = await Promise.all(
    Array.from({ length: 400 }, (_, i) => connect(halves[i % halves.length])),
  );
  // All of them end by themselves, with or without a line.
  const left = await Promise.all(held.map(async (it) => {
    let text = "";
    try {
      text = await new Response(it.readable).text();
    } catch {
      // It was refused.
    }
    return text;
  }));
  assert(
    left.every((it) => /^(|HTTP\/1\.1 40[08] )/.test(it)),
    left.join("\n"),
  );
  assertEquals(statusOf(await request("/")), 200);
  // A refusal ends a connection that would have gone on, a body that never comes too.
  for (
    const [line, status] of [
      [`GET / HTTP/1.1\r\n${HOST}`, 403],
      [`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}.evil`, 421],
      [`POST / HTTP/1.1\r\n${HOST}\r\nContent-Length: 1000000`, 405],
    ] as const
  ) {
    const connection = await connect(`${line}\r\n\r\n`);
    const text = await new Response(connection.readable).text();
    assertEquals(statusOf(text), status, text);
    assertMatch(text, /\r\nconnection: close\r\n/i);
  }
});

Deno.test("a run's folder that is hostile shows nothing else, hangs nobody and runs nothing", async () => {
  const outside = `${top}/outside`;
  const log = `${HEADER}\n${rowsOf(0, 3)}`;
  makeRun(outside, {
    ...{ log, stopped: SECRET, files: { "secret.txt": SECRET } },
    record: { state: "failed", reason: SECRET },
  });
  const make = (name: string, parts: Parameters<typeof makeRun>[1] = {}) => {
    makeRun(`${root}/${name}`, parts);
    return `${root}/${name}`;
  };
  const names = [
    "pipe",
    "link",
    "linked folder",
    '"quoted" name\nwith a line \u202e<script>alert(1)</script>',
    "empty",
    "columns",
    "strange numbers",
    "folders",
    "code",
    "long",
  ];
  for (
    const name of [
      ...["config.yaml", "progress.csv", "report.html", "run.lock"],
      "run.json",
    ]
  ) {
    const dir = make(names[0]);
    Deno.removeSync(`${dir}/config.yaml`);
    makePipe(`${dir}/${name}`);
    await shown(names[0]);
    Deno.removeSync(dir, { recursive: true });
  }
  const piped = make(names[0]);
  Deno.removeSync(`${piped}/config.yaml`);
  Deno.mkdirSync(`${piped}/videos`);
  const files = ["config.yaml", "progress.csv", "report.html", "run.lock"];
  const more = [
    "run.json",
    "failure.txt",
    "evaluations.json",
    "checkpoints/best.safetensors",
  ];
  for (const it of [...files, ...more, "videos/best.gif"]) {
    makePipe(`${piped}/${it}`);
  }
  const linked = make(names[1]);
  Deno.removeSync(`${linked}/config.yaml`);
  for (
    const it of ["config.yaml", "progress.csv", "report.html", "run.json"]
  ) {
    Deno.symlinkSync(`${outside}/${it}`, `${linked}/${it}`);
  }
  Deno.symlinkSync(`${top}/secret.txt`, `${linked}/failure.txt`);
  const former = make("linked former", { log });
  Deno.removeSync(`${former}/config.yaml`);
  for (const it of ["config.yaml", "report.html"]) {
    Deno.symlinkSync(`${outside}/${it}`, `${former}/${it}`);
  }
  Deno.mkdirSync(`${linked}/videos`);
  Deno.symlinkSync(`${top}/secret.txt`, `${linked}/videos/best.gif`);
  Deno.symlinkSync(outside, `${root}/${names[2]}`);
  const linkedVideos = make("linked videos", { log });
  Deno.symlinkSync(outside, `${linkedVideos}/videos`);
  make(names[3], { log });
  make(names[4], { log: "" });
  make(names[5], { log: "a,b\n1,2\n" });
  make(names[6], {
    log: `${HEADER}\n1e400,NaN,-Infinity,0x10,--,\n\n,,,,,,,,\n7,1,1,1,1,1\n`,
  });
  const folders = make(names[7]);
  for (const it of ["progress.csv", "report.html"]) {
    Deno.mkdirSync(`${folders}/${it}`);
  }
  Deno.writeTextFileSync(
    `${top}/evil.ts`,
    `Deno.writeTextFileSync(${JSON.stringify(`${top}/ran`)}, "");`,
  );
  const evil = { algorithm: "evil", algorithmModules: [`${top}/evil.ts`] };
  make(names[8], { log, config: { ...evil, envModules: [`${top}/evil.ts`] } });
  make(names[9], { log: `${HEADER}\n${"9".repeat(3_000_000)}` });
  makeRun(`${root}/cut`, {
    files: { "evaluations.json": '{"last":', "run.json": '{"format": 1' },
  });

  const found = await shown("cut");
  assertEquals(found.has(names[2]), false);
  const problems = (name: string) => found.get(name)!.problems.join("\n");
  for (const it of ["run.json", "its log"]) {
    assertStringIncludes(problems(names[0]), `${it}: it is a pipe`);
    assertStringIncludes(problems(names[1]), `${it}: it leads out`);
  }
  for (const it of ["config.yaml", "report.html"]) {
    assertStringIncludes(problems("linked former"), `${it}: it leads out`);
  }
  assertEquals(found.get(names[0])!.state, "unknown");
  assertStringIncludes(problems(names[5]), "it has no column time/steps");
  assertStringIncludes(problems(names[7]), "its log: it is a folder");
  assertStringIncludes(problems(names[7]), "report.html: it is a folder");
  assertStringIncludes(problems("cut"), "run.json: ");
  assertEquals(problems("good"), "");

  const ids = [...found.values()].map(({ id }) => id);
  assert(!JSON.stringify([...found]).includes(SECRET));
  for (const id of ids) {
    const files = await (await board.get(`/api/runs/${id}`)).json();
    const paths = files.map(({ path }: { path: string }) => path);
    assert(!paths.some((it: string) => it.includes("secret")), paths.join());
    for (const it of ["videos/best.gif", "report.html", "search.html"]) {
      const sent = await board.get(`/api/runs/${id}/${it}`);
      assert(!(await sent.text()).includes(SECRET));
    }
  }
  const query = new URLSearchParams({
    runs: ids.join(),
    since: ids.map(() => 0).join(),
    keys: "eval/return_mean",
  });
  const rows = await (await board.get(`/api/curves?${query}`)).json();
  assertEquals(
    new Set(Object.keys(rows)),
    new Set(
      [
        ...["good", "linked videos", "linked former", names[3], names[6]],
        names[8],
      ].map((it) => found.get(it)!.id),
    ),
  );
  assertThrows(() => Deno.statSync(`${top}/ran`), Deno.errors.NotFound);
});

Deno.test("reports run nothing, and videos are what their bytes are", async () => {
  const gif = new TextEncoder().encode("GIF89a.....");
  const mp4 = new TextEncoder().encode("\0\0\0 ftypisom");
  makeRun(`${root}/films`, {
    log: `${HEADER}\n`,
    stopped: "<script>alert(1)</script>",
    files: { "play.mp4": mp4, "play.gif": "<script>alert(1)</script>" },
  });
  Deno.mkdirSync(`${root}/films/videos`);
  Deno.writeFileSync(`${root}/films/videos/best.gif`, gif);
  Deno.writeFileSync(`${root}/films/videos/other.gif`, gif);
  const { id } = (await shown("films")).get("films")!;
  const files = ["videos/best.gif", "play.gif", "play.mp4"];
  const sent = await Promise.all(files.map(async (it) => {
    const { headers, body } = await board.get(`/api/runs/${id}/${it}`);
    await body?.cancel();
    assertMatch(headers.get("content-security-policy")!, /^sandbox; /);
    return [headers.get("content-type"), headers.get("content-disposition")];
  }));
  assertEquals(sent, [
    ["image/gif", null],
    ["application/octet-stream", "attachment; filename=file"],
    ["video/mp4", null],
  ]);
  const head = await ask(port, [
    ...[`HEAD /api/runs/${id}/play.mp4 HTTP/1.1`, HOST, COOKIE],
  ]);
  assertEquals([statusOf(head), head.split("\r\n\r\n")[1]], [200, ""]);
  const report = await board.get(`/api/runs/${id}/report.html`);
  assertStringIncludes(await report.text(), "<script>");
  const policy = report.headers.get("content-security-policy")!;
  assertMatch(policy, /^sandbox; default-src 'none'; /);
  assert(!policy.includes("script") && !policy.includes("allow-"), policy);
  assertEquals(report.headers.get("x-content-type-options"), "nosniff");
});

Deno.test("a port and a host that cannot be had are named, and a signal ends a board", async () => {
  await assertRejects(
    () => serveBoard({ roots: [root], port }),
    RangeError,
    `Cannot listen on port ${port}: another program has it; expected a free port`,
  );
  await assertRejects(
    () => serveBoard({ roots: [root], port: 0, host: "0.0.0.0" }),
    RangeError,
    "Cannot listen on '0.0.0.0': expected one address",
  );
  const controller = new AbortController(), { signal } = controller;
  const other = await serveBoard({ roots: [], port: 0, token: "a b", signal });
  assertMatch(other.url, /\?token=a%20b$/);
  controller.abort();
  await other.finished;
  await board.close();
  Deno.removeSync(top, { recursive: true });
});
