import { HostFailure } from "../workers/host_failure.ts";

/** Message of a game or a trainer. */
export type PageMessage = string | Uint8Array;

/** A game that has connected. */
export class Connection {
  /** True once it has sent what nobody had asked for. */
  isEarly = false;
  readonly #socket: WebSocket;
  #answered?: PromiseWithResolvers<PageMessage>;
  #failure?: HostFailure;

  constructor(socket: WebSocket, what: string) {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      this.isEarly ||= this.#answered === undefined;
      this.#answered?.resolve(
        typeof data === "string" ? data : new Uint8Array(data),
      );
      this.#answered = undefined;
    };
    socket.onclose = socket.onerror = () => {
      this.#fail(new HostFailure("exit", `its ${what} is gone`));
    };
  }

  /** Sends a message, and waits for the answer. */
  ask(message: PageMessage): Promise<PageMessage> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#answered = Promise.withResolvers();
    const { promise } = this.#answered;
    this.#socket.send(message as Uint8Array<ArrayBuffer>);
    return promise;
  }

  /** Ends it. */
  close(): void {
    if (this.#socket.readyState <= WebSocket.OPEN) this.#socket.close();
  }

  #fail(failure: HostFailure): void {
    this.#failure ??= failure;
    this.#answered?.reject(this.#failure);
    this.#answered = undefined;
  }
}

/** Who may connect. */
interface Expected {
  /** Origin of a page; null for a program. */
  readonly origin: string | null;
  readonly waiting: ((connection: Connection) => void)[];
}

/** A game that is waited for. */
export interface Visit {
  /** Address that it is to connect to. */
  readonly address: string;
  readonly connection: Promise<Connection>;
  /** Waits no longer, and forgets the address. */
  cancel(): void;
}

/** Lets games in that know a secret, at an address of this machine. */
export class Door {
  readonly #expected = new Map<string, Expected>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve(
      {
        ...{ hostname: "127.0.0.1", port: 0, onListen: () => {} },
        // Anyone on this machine may send what is no request of a game.
        onError: () => new Response("Expected a WebSocket", { status: 400 }),
      },
      (request) => this.#answer(request),
    );
  }

  /**
   * Waits for a game.
   *
   * @param origin Origin of the page; null for a program.
   * @param shared Secret of several, for pages that people open.
   */
  expect(origin: string | null, shared?: string): Visit {
    const token = shared ?? crypto.randomUUID();
    const expected = this.#expected.get(token) ?? { origin, waiting: [] };
    this.#expected.set(token, expected);
    const { promise: connection, resolve } = Promise.withResolvers<
      Connection
    >();
    expected.waiting.push(resolve);
    return {
      address: `ws://127.0.0.1:${this.#server.addr.port}/${token}`,
      connection,
      cancel: () => {
        const at = expected.waiting.indexOf(resolve);
        if (at >= 0) expected.waiting.splice(at, 1);
        if (shared === undefined) this.#expected.delete(token);
      },
    };
  }

  /** Lets nobody in any more. */
  close(): Promise<void> {
    return this.#server.shutdown();
  }

  #answer(request: Request): Response {
    const expected = this.#expected.get(new URL(request.url).pathname.slice(1));
    const refuse = (status: number, why: string) =>
      new Response(why, { status });
    if (!expected || request.headers.get("origin") !== expected.origin) {
      return refuse(403, "This address is of no game that is waited for");
    }
    if (expected.waiting.length === 0) {
      return refuse(409, "All games are there already");
    }
    const isSocket = request.headers.get("upgrade") === "websocket";
    if (!isSocket) return refuse(426, "Expected a WebSocket");
    const { socket, response } = Deno.upgradeWebSocket(request, {
      idleTimeout: 0,
    });
    const take = expected.waiting.shift()!;
    const what = expected.origin === null ? "program" : "page";
    const connection = new Connection(socket, what);
    socket.onopen = () => take(connection);
    return response;
  }
}
