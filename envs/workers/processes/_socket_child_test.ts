import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type ListenOptions,
  SocketChild,
  SocketListener,
} from "./_socket_child.ts";
import type { ChildEnd } from "./child.ts";
import { frameOf, FrameReader } from "./frames.ts";
import { assertNoneLeft } from "./testdata/processes.ts";

const hostname = "127.0.0.1";
const SECRET = "0123456789abcdef0123456789abcdef";
const OTHER = "f123456789abcdef0123456789abcdef";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** A message, or the end of a child. */
interface News {
  bytes?: Uint8Array;
  end?: ChildEnd;
}

/** A child whose news are added to a list. */
class ToldChild extends SocketChild {
  #news: News[];

  constructor(secret: string, news: News[]) {
    super(secret);
    this.#news = news;
  }

  override take(bytes: Uint8Array<ArrayBuffer>): void {
    this.#news.push({ bytes });
  }

  override finish(end: ChildEnd): void {
    super.finish(end);
    this.#news.push({ end });
  }

  override close(): Promise<undefined> {
    this.kill();
    return Promise.resolve(undefined);
  }
}

/** A listener that is closed at the end, and the children that it expects. */
class Listening implements Disposable {
  readonly listener: SocketListener;
  #isClosed = false;
  #children: SocketChild[] = [];
  #conns: Deno.TcpConn[] = [];

  constructor(options: Partial<ListenOptions> = {}) {
    this.listener = new SocketListener({ hostname, unproven: 20, ...options });
  }

  /** Expects a child; its news are added to the list. */
  expect(secret: string, news: News[] = []): SocketChild {
    const child = new ToldChild(secret, news);
    this.#children.push(child);
    this.listener.expect(child);
    return child;
  }

  /** Connects as a child does that another machine has started. */
  async connect(said = ""): Promise<Deno.TcpConn> {
    const { port } = this.listener;
    const conn = await Deno.connect({ hostname, port });
    this.#conns.push(conn);
    if (said !== "") await conn.write(bytesOf(said));
    return conn;
  }

  close(): void {
    if (!this.#isClosed) this.listener.close();
    this.#isClosed = true;
  }

  [Symbol.dispose](): void {
    this.close();
    for (const child of this.#children) child.kill();
    for (const conn of this.#conns) close(conn);
  }
}

function close(conn: Deno.TcpConn): void {
  try {
    conn.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

async function write(conn: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += await conn.write(bytes.subarray(at));
  }
}

/** Waits until the other side has closed a connection. */
async function untilClosed(conn: Deno.TcpConn): Promise<void> {
  const piece = new Uint8Array(65_536);
  try {
    while (await conn.read(piece) !== null);
  } catch (error) {
    assert(error instanceof Deno.errors.ConnectionReset, String(error));
  }
}

/** Reads messages, so many or all that come. */
async function readMessages(
  conn: Deno.TcpConn,
  count = Infinity,
): Promise<Uint8Array[]> {
  const messages: Uint8Array[] = [];
  const frames = new FrameReader({
    message: (bytes) => messages.push(bytes),
    stray: (bytes) => assert(false, `stray bytes: ${bytes}`),
  });
  const piece = new Uint8Array(65_536);
  while (messages.length < count) {
    const length = await conn.read(piece);
    if (length === null) break;
    frames.read(piece.subarray(0, length));
  }
  return messages;
}

/** Waits for news. */
async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2000 && !isSo(); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert(isSo());
}

const ENDED = { end: { failure: "its connection was closed", prints: "" } };

/** Checks that a child which says its secret is let in. */
async function assertLetIn(it: Listening, secret: string): Promise<void> {
  const child = it.expect(secret), conn = await it.connect(secret);
  child.send(frameOf(bytesOf("welcome")));
  assertEquals((await readMessages(conn, 1)).map(textOf), ["welcome"]);
}

Deno.test("messages of all lengths go both ways, and nothing that is printed", async () => {
  using it = new Listening();
  const news: News[] = [], child = it.expect(SECRET, news);
  const conn = await it.connect(SECRET);
  const lengths = [1, 0, 31, 32, 33, 65_536, 262_143, 262_145, 5_000_000, 2];
  const messages = lengths.map((length, i) => {
    const bytes = new Uint8Array(length);
    return bytes.map((_, at) => at * 31 + i);
  });
  for (const message of messages) child.send(frameOf(message));
  const received = await readMessages(conn, messages.length);
  assert(received.every((bytes, i) => textOf(bytes) === textOf(messages[i])));
  for (const message of received) {
    await write(conn, bytesOf("printed\n"));
    await write(conn, frameOf(message));
  }
  await until(() => news.length === messages.length);
  assertEquals(news.map((it) => it.bytes!.length), lengths);
  assert(news.every((it, i) => textOf(it.bytes!) === textOf(messages[i])));
});

Deno.test("a secret may come in pieces, or with the first message", async () => {
  using it = new Listening();
  for (const length of [1, 31, 32]) {
    const news: News[] = [];
    it.expect(SECRET, news);
    const conn = await it.connect(SECRET.slice(0, length));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const rest = bytesOf(SECRET.slice(length));
    await write(conn, Uint8Array.from([...rest, ...frameOf(bytesOf("hi"))]));
    await until(() => news.length > 0);
    assertEquals(textOf(news[0].bytes!), "hi");
  }
});

Deno.test("what is sent before a child has connected is kept for it", async () => {
  using it = new Listening();
  const child = it.expect(SECRET);
  const texts = ["one", "", "three", "x".repeat(1_000_000)];
  for (const text of texts) child.send(frameOf(bytesOf(text)));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const messages = await readMessages(await it.connect(SECRET), texts.length);
  assert(messages.every((bytes, i) => textOf(bytes) === texts[i]));
});

Deno.test("a child has ended when the other side closes, after what it sent", async () => {
  using it = new Listening();
  const news: News[] = [], child = it.expect(SECRET, news);
  const conn = await it.connect(SECRET);
  await write(conn, frameOf(bytesOf("last words")));
  conn.close();
  await until(() => child.end !== undefined);
  assertEquals(news, [{ bytes: bytesOf("last words") }, ENDED]);
  // It stays so, whatever is done.
  child.send(frameOf(bytesOf("too late")));
  child.kill();
  assertEquals(news.length, 2);
});

Deno.test("a child that is killed loses its connection", async () => {
  using it = new Listening();
  const news: News[] = [], child = it.expect(SECRET, news);
  const conn = await it.connect(SECRET);
  child.send(frameOf(bytesOf("hello")));
  await readMessages(conn, 1);
  child.kill();
  assertEquals(news, [ENDED]);
  await untilClosed(conn);
});

Deno.test("a child that is killed before it comes is expected no longer", async () => {
  using it = new Listening();
  const news: News[] = [], child = it.expect(SECRET, news);
  child.send(frameOf(bytesOf("never sent")));
  child.kill();
  await untilClosed(await it.connect(SECRET));
  assertEquals(news, [ENDED]);
});

Deno.test("each child gets the connection that says its secret", async () => {
  using it = new Listening();
  const secrets = [SECRET, OTHER, SECRET.replace("f", "e")];
  const children = secrets.map((secret) => it.expect(secret));
  for (const [i, secret] of [...secrets.entries()].reverse()) {
    const conn = await it.connect(secret);
    children[i].send(frameOf(Uint8Array.of(i)));
    assertEquals(await readMessages(conn, 1), [Uint8Array.of(i)]);
  }
});

Deno.test("who says no secret of a child is closed", async () => {
  using it = new Listening();
  const news: News[] = [];
  it.expect(SECRET, news);
  const wrong = [
    OTHER,
    SECRET.slice(0, -1) + "0",
    SECRET.toUpperCase(),
    "\0".repeat(32),
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    `a${SECRET}`,
  ];
  for (const said of wrong) await untilClosed(await it.connect(said));
  // It closes early itself.
  for (const said of ["", SECRET.slice(0, 31)]) {
    const conn = await it.connect(said);
    await conn.closeWrite();
    await untilClosed(conn);
  }
  assertEquals(news, []);
  await write(await it.connect(SECRET), frameOf(bytesOf("it is me")));
  await until(() => news.length === 1);
});

Deno.test("a secret is void once it was said", async () => {
  using it = new Listening();
  const news: News[] = [], child = it.expect(SECRET, news);
  const conn = await it.connect(SECRET);
  child.send(frameOf(bytesOf("first")));
  await readMessages(conn, 1);
  const replay = await it.connect(SECRET);
  await write(replay, frameOf(bytesOf("it is me too")));
  await untilClosed(replay);
  child.send(frameOf(bytesOf("second")));
  assertEquals((await readMessages(conn, 1)).map(textOf), ["second"]);
  conn.close();
  await until(() => child.end !== undefined);
  await untilClosed(await it.connect(SECRET));
  assertEquals(news, [ENDED]);
});

Deno.test("who says nothing, or half a secret, is closed after a while", async () => {
  using it = new Listening({ proofMs: 50 });
  it.expect(SECRET);
  const conns = [await it.connect(), await it.connect(SECRET.slice(0, 16))];
  await Promise.all(conns.map(untilClosed));
  // Its time does not begin again with each byte.
  const slow = await it.connect();
  const closed = untilClosed(slow);
  for (let i = 0; i < 32; i++) {
    await slow.write(bytesOf(SECRET[i])).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await closed;
  // A child that is let in is given any time.
  const news: News[] = [];
  it.expect(OTHER, news);
  const conn = await it.connect(OTHER);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await write(conn, frameOf(bytesOf("still here")));
  await until(() => news.length === 1);
  assertEquals(textOf(news[0].bytes!), "still here");
});

Deno.test("of 100 silent connections only so many stay", async () => {
  using it = new Listening({ unproven: 16 });
  const child = it.expect(SECRET);
  let closed = 0;
  const silent: Deno.TcpConn[] = [];
  for (let i = 0; i < 100; i++) {
    const conn = await it.connect();
    silent.push(conn);
    if (i >= 16) untilClosed(conn).then(() => closed++, () => {});
  }
  await until(() => closed === 84);
  // There is no place for a child, until one of them goes.
  await untilClosed(await it.connect(SECRET));
  await write(silent[3], bytesOf("x".repeat(32)));
  await untilClosed(silent[3]);
  await assertLetIn(it, OTHER);
  // The others may still say a secret.
  await write(silent[15], bytesOf(SECRET));
  child.send(frameOf(bytesOf("better late")));
  await readMessages(silent[15], 1);
});

Deno.test("silent connections make place for a child when their time is over", async () => {
  using it = new Listening({ unproven: 16, proofMs: 50 });
  const silent = [];
  for (let i = 0; i < 100; i++) silent.push(await it.connect());
  await Promise.all(silent.map(untilClosed));
  await assertLetIn(it, SECRET);
});

Deno.test("a listener that is closed closes who has said nothing, but no child", async () => {
  using it = new Listening({ proofMs: 1e9 });
  const child = it.expect(SECRET), conn = await it.connect(SECRET);
  child.send(frameOf(bytesOf("first")));
  await readMessages(conn, 1);
  const silent = await it.connect();
  await assertLetIn(it, OTHER);
  it.close();
  await untilClosed(silent);
  child.send(frameOf(bytesOf("second")));
  assertEquals((await readMessages(conn, 1)).map(textOf), ["second"]);
});

Deno.test("it cannot listen at a port that is in use", () => {
  using it = new Listening();
  const { port } = it.listener;
  const options = { hostname, port, unproven: 1 };
  assertThrows(() => new SocketListener(options), Deno.errors.AddrInUse);
});

/** A round with each kind of connection; returns the port. */
async function useAll(): Promise<number> {
  using it = new Listening({ unproven: 2 });
  await assertLetIn(it, SECRET);
  // It takes nothing, so that the rest of the message is not written.
  const full = it.expect(OTHER);
  full.send(frameOf(new Uint8Array(20_000_000)));
  await (await it.connect(OTHER)).read(new Uint8Array(1));
  await untilClosed(await it.connect("x".repeat(32)));
  const silent = [];
  for (let i = 0; i < 4; i++) silent.push(await it.connect());
  await Promise.all(silent.slice(2).map(untilClosed));
  it.expect("never".padEnd(32));
  return it.listener.port;
}

Deno.test("nothing is left: no descriptor and no port", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  let port = await useAll();
  await assertNoneLeft(async () => {
    for (let i = 0; i < 5; i++) port = await useAll();
  });
  const error = await Deno.connect({ hostname, port }).catch((it) => it);
  assert(error instanceof Deno.errors.ConnectionRefused);
});
