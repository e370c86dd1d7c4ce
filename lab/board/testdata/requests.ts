import { type Board, serveBoard } from "../server.ts";

/** A board that tests ask. */
export interface AskedBoard extends Board {
  port: number;
  cookie: string;
  /** Asks for a path with the cookie. */
  get(path: string): Promise<Response>;
}

/** Trades the token of a board's address for the cookie, and asks with it. */
export async function askerOf(address: string) {
  const traded = await fetch(address, { redirect: "manual" });
  await traded.body?.cancel();
  const cookie = traded.headers.get("set-cookie")!.split(";")[0];
  const { origin } = new URL(address);
  return {
    cookie,
    get: (path: string) => fetch(origin + path, { headers: { cookie } }),
  };
}

/** Starts a board on a free port, and trades its token for the cookie. */
export async function askedBoard(
  roots: readonly string[],
): Promise<AskedBoard> {
  const board = await serveBoard({ roots, port: 0 });
  return {
    ...board,
    port: Number(new URL(board.url).port),
    ...await askerOf(board.url),
  };
}

/** Sends bytes as they are, and returns the whole answer of a connection that is closed then. */
export async function ask(
  port: number,
  lines: readonly string[],
): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const text = [...lines, "Connection: close", "", ""].join("\r\n");
  await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text();
}
