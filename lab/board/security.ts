/** Checks of requests, which another page, user or machine may have sent. */
import { Buffer } from "node:buffer";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Headers of every response. */
export const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/**
 * Headers of a run's files: an origin of their own, and no scripts. Browsers refuse a
 * sandbox whose opener policy is not the default one.
 */
export const SANDBOXED: Readonly<Record<string, string>> = {
  ...HEADERS,
  "content-security-policy":
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "cross-origin-opener-policy": "unsafe-none",
};

/** Longest path with query. */
const MOST_PATH = 6_000;

/** Refused request: status and reason. */
export interface Refusal {
  status: number;
  text: string;
}

/** Access control of the server. */
export class Guard {
  /** Token of the printed address. */
  readonly token: string;
  readonly #cookie = secret();
  readonly #name: string;
  readonly #hosts: readonly string[];

  /**
   * Creates the access control.
   *
   * @param port Port of the server.
   * @param options Host of the server, and token; a new one by default.
   */
  constructor(
    port: number,
    { host, token = secret() }: { host: string; token?: string },
  ) {
    this.token = token;
    // Cookies are the same for all ports of a host.
    this.#name = `bellman-board-${port}`;
    const names = host === "127.0.0.1" ? [host, "localhost"] : [host];
    this.#hosts = names.map((it) =>
      `${it.includes(":") ? `[${it}]` : it}:${port}`
    );
  }

  /** Refuses requests that no page of the board makes; undefined for valid ones. */
  refuse(
    { method, headers }: Pick<Request, "method" | "headers">,
    path: string,
  ): Refusal | undefined {
    const host = headers.get("host") ?? "";
    if (!this.#hosts.includes(host)) {
      const text = `This is ${this.#hosts.join(" or ")} alone`;
      return { status: 421, text };
    }
    const site = headers.get("sec-fetch-site");
    if (site !== null && site !== "same-origin" && site !== "none") {
      return { status: 403, text: "Pages of other sites get nothing" };
    }
    const origin = headers.get("origin");
    if (origin !== null && origin !== `http://${host}`) {
      return { status: 403, text: "Pages of other sites get nothing" };
    }
    if (method !== "GET" && method !== "HEAD") {
      return { status: 405, text: "The board can only be read" };
    }
    if (path.length > MOST_PATH) return { status: 414, text: "Too long" };
  }

  /** Returns true for the token of the printed address. */
  isToken(text: string): boolean {
    return isEqual(text, this.token);
  }

  /** Cookie that replaces the token. */
  get setCookie(): string {
    return `${this.#name}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`;
  }

  /** Returns true if the headers of a request contain the cookie. */
  hasCookie(headers: Headers): boolean {
    const start = `${this.#name}=`;
    return (headers.get("cookie") ?? "").split(/[;,]\s*/)
      .some((it) =>
        it.startsWith(start) && isEqual(it.slice(start.length), this.#cookie)
      );
  }
}

/** Makes a secret of 128 bits. */
function secret(): string {
  return randomBytes(16).toString("hex");
}

/** Compares texts in constant time. */
function isEqual(a: string, b: string): boolean {
  const [x, y] = [a, b]
    .map((it) => createHash("sha256").update(Buffer.from(it)).digest());
  return timingSafeEqual(x, y);
}
