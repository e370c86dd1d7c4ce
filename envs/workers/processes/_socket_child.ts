/** Children that other machines start, which connect to this process. */
import { builtin } from "@bellman/files";
import { FrameReader } from "./frames.ts";
import { Child } from "./child.ts";

/** Settings of where children of other machines connect to. */
export interface ListenOptions {
  /** Name or number of an address of this machine. */
  readonly hostname: string;
  /**
   * The port.
   *
   * @default 0, which is any that is free
   */
  readonly port?: number;
  /**
   * Number of connections that at most may be there without having said the
   * secret of a child: more are closed at once.
   */
  readonly unproven: number;
  /**
   * Time for a connection to say it, in milliseconds.
   *
   * @default 10_000
   */
  readonly proofMs?: number;
}

/** Bytes of a secret. */
const SECRET = 32;
/** Time to say it, in milliseconds. */
const PROOF_MS = 10_000;
/** Time until connections are accepted again after that failed. */
const RETRY_MS = 100;
const PIECE = 262_144;

/** The end of every process elsewhere: its own is not seen from here. */
const END = { failure: "its connection was closed", prints: "" };

/**
 * A process that another machine starts, and its connection once that is there.
 * What is sent before is kept until then.
 */
export abstract class SocketChild extends Child {
  #secret: Uint8Array;
  #conn: Deno.TcpConn | undefined;
  #connected = Promise.withResolvers<void>();
  /** Settles when all that was sent so far is written. */
  #written: Promise<void> = this.#connected.promise;
  #isClosed = false;

  /** @param secret What it says first. */
  constructor(secret: string) {
    super();
    this.#secret = new TextEncoder().encode(secret);
  }

  /** True until its connection is closed or given up. */
  get isExpected(): boolean {
    return !this.#isClosed;
  }

  /** Compares its secret with what was said, in the same time for any. */
  isProvenBy(said: Uint8Array): boolean {
    return builtin("node:crypto").timingSafeEqual(said, this.#secret);
  }

  /** Gives it its connection. */
  connect(conn: Deno.TcpConn): void {
    if (this.#isClosed) return conn.close();
    this.#conn = conn;
    this.#connected.resolve();
    this.#read(conn);
  }

  override send(frame: Uint8Array): void {
    // Where the connection is broken, its reader tells so.
    this.#written = this.#written.then(async () => {
      for (let at = 0; at < frame.length;) {
        at += await this.#conn!.write(frame.subarray(at));
      }
    }).catch(() => {});
  }

  /** Closes its connection, or expects none any more. */
  override kill(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.finish(END);
    this.#conn?.close();
  }

  /** Reads messages until the connection ends. */
  async #read(conn: Deno.TcpConn): Promise<void> {
    const frames = new FrameReader({
      message: (bytes) => this.#isClosed || this.take(bytes),
      stray: () => {},
    });
    const piece = new Uint8Array(PIECE);
    try {
      conn.setNoDelay();
      for (let length; (length = await conn.read(piece)) !== null;) {
        frames.read(piece.subarray(0, length));
      }
    } catch {
      // It was broken or closed, or what it sends cannot be held in memory.
    }
    this.kill();
  }
}

/** Reads a whole secret; returns nothing where the connection ends before. */
async function readSecret(
  conn: Deno.TcpConn,
): Promise<Uint8Array | undefined> {
  const said = new Uint8Array(SECRET);
  try {
    for (let at = 0; at < SECRET;) {
      const length = await conn.read(said.subarray(at));
      if (length === null) return undefined;
      at += length;
    }
    return said;
  } catch {
    return undefined;
  }
}

/** Listens for children. A connection must first say the secret of one. */
export class SocketListener {
  /** The port. */
  readonly port: number;
  #listener: Deno.TcpListener;
  #expected = new Set<SocketChild>();
  #unproven = new Set<Deno.TcpConn>();
  #limit: number;
  #proofMs: number;
  #isClosed = false;

  /** Begins to listen; throws where that cannot be done. */
  constructor(options: ListenOptions) {
    const { hostname, port = 0, unproven, proofMs = PROOF_MS } = options;
    this.#listener = Deno.listen({ hostname, port });
    this.port = this.#listener.addr.port;
    this.#limit = unproven;
    this.#proofMs = proofMs;
    this.#accept();
  }

  /** Connects a child once its secret is said, which then is void. */
  expect(child: SocketChild): void {
    this.#expected.add(child);
  }

  /** Listens no longer; connections of children stay. */
  close(): void {
    this.#isClosed = true;
    this.#listener.close();
    for (const conn of this.#unproven) this.#drop(conn);
  }

  async #accept(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#prove(await this.#listener.accept());
      } catch {
        if (this.#isClosed) return;
        // There may be no descriptor for it at present.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Hears whose connection it is, and closes it if it is nobody's. */
  async #prove(conn: Deno.TcpConn): Promise<void> {
    if (this.#unproven.size >= this.#limit) return conn.close();
    this.#unproven.add(conn);
    const timer = setTimeout(() => this.#drop(conn), this.#proofMs);
    const said = await readSecret(conn);
    clearTimeout(timer);
    if (!this.#unproven.has(conn)) return;
    const child = said && this.#take(said);
    if (child === undefined) return this.#drop(conn);
    this.#unproven.delete(conn);
    child.connect(conn);
  }

  #drop(conn: Deno.TcpConn): void {
    this.#unproven.delete(conn);
    conn.close();
  }

  /** Takes the child with this secret; each is compared, whichever it is. */
  #take(said: Uint8Array): SocketChild | undefined {
    let found: SocketChild | undefined;
    for (const child of this.#expected) {
      if (!child.isExpected) this.#expected.delete(child);
      else if (child.isProvenBy(said)) found = child;
    }
    if (found) this.#expected.delete(found);
    return found;
  }
}
