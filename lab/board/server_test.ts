import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { UsageError } from "../terminal/errors.ts";
import { startBoard } from "./server.ts";
import { HEADER, makePipe, makeRun, rowsOf } from "./testdata/folders.ts";
import { ask, askedBoard, eventsOf } from "./testdata/requests.ts";

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
const board = await askedBoard([root], {
  "board.js": "let page;",
  "board.css": "main{}",
  "worker.js": "let worker;",
  "other.js": "no file of the page",
});
const { port, cookie } = board;
const HOST = `Host: 127.0.0.1:${port}`;
const COOKIE = `Cookie: ${cookie}`;

/** Returns the status of an answer. */
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);

const request = (path: string, ...lines: string[]) =>
  ask(port, [`GET ${path} HTTP/1.1`, HOST, COOKIE, ...lines]);

type Summary = { id: string; problems: string[]; state: string };

/** Waits until the index has a run, and returns all by their names. */
async function summaries(wanted = "good"): Promise<Map<string, Summary>> {
  for (let tries = 0; tries < 100; tries++) {
    const { runs } = await (await board.get("/api/index")).json();
    const found = new Map<string, Summary>(
      runs.map((it: { name: string }) => [it.name, it]),
    );
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
  const paths = ["/", "/board.js", "/api/index", "/api/events", "/none"];
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
    for (const path of ["/", "/api/events"]) {
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
  const events = await ask(port, ["HEAD /api/events HTTP/1.1", HOST, COOKIE]);
  assertEquals(statusOf(events), 200);
});

Deno.test("all answers have the headers that keep scripts and other pages out", async () => {
  for (const path of ["/", "/board.js", "/api/index", "/none", "/?token=0"]) {
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
  const [good] = (await summaries()).values();
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
    `/api/runs/${good.id}/report%00.html`,
    `/api/runs/${good.id}/config.yaml`,
    `/api/runs/${good.id}/`,
    "/api/runs/__proto__",
    "/api/runs/constructo",
    "/api/experiments/0123456789/figures/learning-curves",
    "/other.js",
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
  for (const path of [`/${long}`, `/api/index?${long}`, `/?token=${long}`]) {
    assertEquals(statusOf(await request(path)), 414);
  }
  const far = `/api/events?curves=${"a".repeat(61_000)}`;
  assert([400, 414].includes(statusOf(await request(far))));
  // Bytes that no line of a request has.
  for (const path of ["/\0", "/\x01", "/a b", "/\xff"]) {
    const text = await request(path);
    assert(!text.includes(SECRET) && statusOf(text) !== 500, path);
  }
  assertEquals(statusOf(await request("/")), 200);
});

Deno.test("streams that ask for nonsense are refused, and too many wait", async () => {
  for (
    const query of [
      "curves=",
      "curves=steps extremes 9 a",
      "curves=steps extremes NaN a",
      "curves=steps extremes 20000 a",
      "curves=steps other 100 a",
      "curves=__proto__ extremes 100 a",
      `curves=steps extremes 100 ${"a*".repeat(20)}`,
      "curves=steps extremes 100 %25ZZ",
      Array(17).fill("curves=steps extremes 100 a").join("&"),
    ]
  ) {
    const response = await board.get(
      `/api/events?${query.replaceAll(" ", "+")}`,
    );
    assertEquals(response.status, 400, query);
    await response.body?.cancel();
  }
  const connections = await Promise.all(
    Array.from({ length: 300 }, async () => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      await connection.write(new TextEncoder().encode(
        `GET /api/events?version= HTTP/1.1\r\n${HOST}\r\n${COOKIE}\r\n\r\n`,
      ));
      return connection;
    }),
  );
  const statuses = await Promise.all(connections.map(async (it) => {
    const bytes = new Uint8Array(64);
    // There are more connections than the board takes.
    const count = await it.read(bytes).catch(() => null);
    return statusOf(new TextDecoder().decode(bytes.subarray(0, count ?? 0)));
  }));
  const count = (status: number) =>
    statuses.filter((it) => Object.is(it, status)).length;
  assertEquals(count(200), 64);
  assertEquals(count(503) + count(NaN), 236);
  assertEquals(statusOf(await request("/api/index")), 200);
  connections.forEach((it) => it.close());
  // Those that are gone make room.
  for (let tries = 0;; tries++) {
    const response = await board.get("/api/events?version=");
    if (response.status === 200) {
      const first = await eventsOf(response).next();
      assertEquals(first.value!.data.isWhole, true);
      break;
    }
    await response.body?.cancel();
    assert(tries < 200, "the streams are still there");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
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
    await summaries(names[0]);
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

  const found = await summaries("cut");
  assertEquals(found.has(names[2]), false);
  const problems = (name: string) => found.get(name)!.problems.join("\n");
  for (const it of [...files.slice(0, 3), ...more]) {
    assertStringIncludes(problems(names[0]), `${it}: it is a pipe`);
  }
  assertEquals(found.get(names[0])!.state, "unknown");
  for (
    const it of ["config.yaml", "progress.csv", "report.html", "run.json"]
  ) {
    assertStringIncludes(
      problems(names[1]),
      `${it}: it leads out of its folder`,
    );
  }
  assertStringIncludes(problems(names[5]), "it has no column time/steps");
  assertStringIncludes(problems(names[7]), "it is a folder");
  assertStringIncludes(problems("cut"), "evaluations.json: ");
  assertStringIncludes(problems("cut"), "run.json: ");
  assertEquals(problems("good"), "");

  const ids = [...found.values()].map(({ id }) => id);
  for (const id of ids) {
    const details = await board.get(`/api/runs/${id}`);
    assertEquals(details.status, 200);
    const text = await details.text();
    assert(!text.includes(SECRET) && !text.includes("evil.ts'"), text);
    for (const { id: video } of JSON.parse(text).videos) {
      const sent = await board.get(`/api/runs/${id}/videos/${video}`);
      assert(!(await sent.text()).includes(SECRET));
    }
    const report = await board.get(`/api/runs/${id}/report`);
    assert(!(await report.text()).includes(SECRET));
  }
  const query = new URLSearchParams({
    curves: `steps extremes 100 ${HEADER.replaceAll(",", "*")} ${
      ids.join("*")
    }`,
  });
  const seen = new Set<string>();
  for await (
    const { data } of eventsOf(await board.get(`/api/events?${query}`))
  ) {
    assert(!JSON.stringify(data).includes(SECRET));
    seen.add(data.run);
    if (seen.size === 5) break;
  }
  assertEquals(
    seen,
    new Set(
      ["good", "linked videos", names[3], names[6], names[8]]
        .map((it) => found.get(it)!.id),
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
  const { id } = (await summaries("films")).get("films")!;
  const { videos } = await (await board.get(`/api/runs/${id}`)).json();
  const sent = await Promise.all(
    videos.map(async ({ id: video }: { id: string }) => {
      const response = await board.get(`/api/runs/${id}/videos/${video}`);
      const { headers } = response;
      await response.body?.cancel();
      assertMatch(headers.get("content-security-policy")!, /^sandbox; /);
      return [
        headers.get("content-type"),
        headers.get("content-disposition"),
      ];
    }),
  );
  assertEquals(sent, [
    ["image/gif", null],
    ["application/octet-stream", "attachment; filename=video"],
    ["video/mp4", null],
  ]);
  const report = await board.get(`/api/runs/${id}/report`);
  assertStringIncludes(await report.text(), "<script>");
  const policy = report.headers.get("content-security-policy")!;
  assertMatch(policy, /^sandbox; default-src 'none'; /);
  assert(!policy.includes("script") && !policy.includes("allow-"), policy);
  assertEquals(report.headers.get("x-content-type-options"), "nosniff");
});

Deno.test("a port that another program has is named with the flag", async () => {
  await assertRejects(
    () => startBoard({ roots: [root], port, files: {} }),
    UsageError,
    `Cannot listen on port ${port}: another program has it; --port takes another one, --port 0 a free one`,
  );
  await board.close();
  Deno.removeSync(top, { recursive: true });
});
