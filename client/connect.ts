import { Host, type MakeWorld } from "./host.ts";

/** Options of {@linkcode connect}. */
export interface ConnectOptions {
  /**
   * Where the trainer is: `ws://127.0.0.1:…`.
   *
   * @default `bellman` in the page's address, or the variable BELLMAN_URL of a program
   */
  readonly address?: string;
}

/** What is used of pages and programs, whose types Deno does not have. */
const here = globalThis as {
  location?: { readonly search: string };
  process?: { readonly env: Readonly<Record<string, string | undefined>> };
};

/** The address that whoever opened the page, or started the program, gives. */
function givenAddress(): string | undefined {
  const { location, process } = here;
  // The address of a page comes from anyone, but a trainer is on this machine.
  if (!location) return process?.env.BELLMAN_URL;
  const given = new URLSearchParams(location.search).get("bellman");
  if (given === null) return undefined;
  const host = URL.parse(given)?.hostname ?? "";
  if (/^(127\.0\.0\.1|localhost|\[::1\])$/.test(host)) return given;
  throw new RangeError(
    `Cannot connect to ${given}: expected an address of this machine, such as ws://127.0.0.1:8000/`,
  );
}

/**
 * Offers worlds of a game to the trainer that opened this page or started this program;
 * without one, the game is its player's.
 *
 * @param make Makes a world.
 * @param options The trainer's address.
 * @returns False where there is no trainer.
 * @throws {TypeError} If there is no WebSocket.
 * @throws {RangeError} If the page's address names a trainer of another machine.
 *
 * @example
 * ```ts
 * import { connect } from "@bellman/client";
 * import { make } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(connect(() => make("CartPole-v1")), false);
 * ```
 */
export function connect(
  make: MakeWorld,
  { address = givenAddress() }: ConnectOptions = {},
): boolean {
  if (!address) return false;
  if (!("WebSocket" in globalThis)) {
    throw new TypeError(
      "Cannot connect without WebSocket, which Node has from version 22 on",
    );
  }
  const host = new Host(make), socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  socket.onmessage = async ({ data }) => {
    socket.send(await host.answer(data) as Uint8Array<ArrayBuffer>);
  };
  socket.onclose = () => host.close();
  return true;
}
