/** Registry of JSR's interface on 127.0.0.1: takes what `deno publish` sends, and serves it. */
import { extname, join } from "node:path";
import { runProgram } from "./run_node.ts";

/** Registry that runs until it is disposed. */
export interface JsrRegistry extends AsyncDisposable {
  /** Address, for `JSR_URL`. */
  readonly url: string;
  /** Creates a package, as its owner does on JSR's page. */
  create(name: string): void;
  /** Published versions, by names such as `@std/cli@1.0.22`. */
  readonly published: ReadonlyMap<string, unknown>;
  /** Changes of packages that were asked for, by name. */
  readonly changes: ReadonlyMap<string, readonly unknown[]>;
  /** Bytes of modules and metadata that were sent so far. */
  sentBytes(): number;
}

/** State of a publication, as `deno publish` asks for it. */
interface Task {
  readonly id: string;
  readonly status: "success";
  readonly packageScope: string;
  readonly packageName: string;
  readonly packageVersion: string;
}

/** Answer to a refused request. */
function refusal(status: number, code: string, more: object = {}): Response {
  return Response.json({ code, message: code, ...more }, { status });
}

async function checksumOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return `sha256-${new Uint8Array(hash).toHex()}`;
}

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(join(folder, name)) : [join(folder, name)]
  );
}

/** Files and metadata of published packages, laid out as JSR's addresses. */
class Store {
  readonly tasks = new Map<string, Task>();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Takes the archive of a version. */
  async add(
    task: Task,
    archive: Uint8Array<ArrayBuffer>,
    config: string,
  ): Promise<void> {
    const { packageScope: scope, packageName: name, packageVersion } = task;
    const dir = join(this.#root, `@${scope}`, name);
    const files = join(dir, packageVersion);
    await Deno.mkdir(files, { recursive: true });
    await Deno.writeFile(`${files}.tgz`, archive);
    const args = ["-xzf", `${files}.tgz`, "-C", files];
    const { code, err } = await runProgram("tar", args);
    if (code !== 0) throw new Error(err);
    await Deno.remove(`${files}.tgz`);
    const manifest: Record<string, { size: number; checksum: string }> = {};
    for (const path of filesBelow(files)) {
      const bytes = await Deno.readFile(path);
      const checksum = await checksumOf(bytes);
      manifest[path.slice(files.length)] = { size: bytes.length, checksum };
    }
    const { exports } = JSON.parse(await Deno.readTextFile(files + config));
    await Deno.writeTextFile(
      `${files}_meta.json`,
      JSON.stringify({
        manifest,
        exports: typeof exports === "string" ? { ".": exports } : exports,
      }),
    );
    const versions = { [packageVersion]: {} };
    await Deno.writeTextFile(
      join(dir, "meta.json"),
      JSON.stringify({ scope, name, latest: packageVersion, versions }),
    );
    this.tasks.set(task.id, task);
  }

  /** Returns a file; undefined where there is none. */
  async read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return await Deno.readFile(join(this.#root, path)).catch(() => undefined);
  }
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".json": "application/json",
  ".ts": "text/typescript",
};

const ROUTES = {
  scope: new URLPattern({ pathname: "/api/scopes/:scope" }),
  packages: new URLPattern({ pathname: "/api/scopes/:scope/packages" }),
  package: new URLPattern({ pathname: "/api/scopes/:scope/packages/:name" }),
  version: new URLPattern({
    pathname: "/api/scopes/:scope/packages/:name/versions/:version",
  }),
  status: new URLPattern({ pathname: "/api/publish_status/:id" }),
};

/** JSR's management interface, as far as a release uses it. */
class Management {
  readonly packages = new Set<string>();
  readonly published = new Map<string, Task>();
  readonly changes = new Map<string, unknown[]>();
  readonly #store: Store;
  readonly #token: string;

  constructor(store: Store, token: string) {
    this.#store = store;
    this.#token = token;
  }

  async answer(request: Request): Promise<Response | undefined> {
    const { method, url } = request;
    const match = Object.entries(ROUTES)
      .map(([key, route]) => [key, route.exec(url)?.pathname.groups] as const)
      .find(([, groups]) => groups !== undefined);
    if (match === undefined) return undefined;
    const [route, { scope, name, version, id }] = match as [
      string,
      Record<string, string>,
    ];
    const isOwner = request.headers.get("authorization") ===
      `Bearer ${this.#token}`;
    if (method !== "GET" && !isOwner) return refusal(401, "missingAuth");
    const full = `@${scope}/${name}`;
    switch (`${method} ${route}`) {
      case "GET scope":
        return Response.json({ scope });
      case "GET status":
        return Response.json(this.#store.tasks.get(id));
      case "POST packages": {
        const created = `@${scope}/${(await request.json()).package}`;
        if (this.packages.has(created)) {
          return refusal(409, "packageAlreadyExists");
        }
        this.packages.add(created);
        return Response.json({ scope, name: created });
      }
    }
    if (!this.packages.has(full)) return refusal(404, "packageNotFound");
    switch (`${method} ${route}`) {
      case "GET package":
        return Response.json({ scope, name, description: "" });
      case "PATCH package": {
        const changes = this.changes.get(full) ?? [];
        this.changes.set(full, [...changes, await request.json()]);
        return Response.json({ scope, name });
      }
      case "POST version":
        return await this.#publish({ scope, name, version }, request);
    }
    return refusal(404, "notFound");
  }

  async #publish(
    { scope, name, version }: Record<"scope" | "name" | "version", string>,
    request: Request,
  ): Promise<Response> {
    const key = `@${scope}/${name}@${version}`;
    const former = this.published.get(key);
    if (former !== undefined) {
      return refusal(400, "duplicateVersionPublish", { task: former });
    }
    const task: Task = {
      id: crypto.randomUUID(),
      status: "success",
      packageScope: scope,
      packageName: name,
      packageVersion: version,
    };
    const config = new URL(request.url).searchParams.get("config")!;
    await this.#store.add(task, await request.bytes(), config);
    this.published.set(key, task);
    return Response.json(task);
  }
}

/**
 * Serves a registry.
 *
 * @param folder Empty folder for its files.
 * @param options Token that publishing takes.
 * @returns The registry, without packages.
 */
export function serveJsr(
  folder: string,
  { token }: { readonly token: string },
): JsrRegistry {
  const store = new Store(folder);
  const management = new Management(store, token);
  let sent = 0;
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const answer = await management.answer(request);
      if (answer !== undefined) return answer;
      const { pathname } = new URL(request.url);
      const bytes = await store.read(decodeURIComponent(pathname));
      if (bytes === undefined) return refusal(404, "notFound");
      sent += bytes.length;
      const type = TYPES[extname(pathname)] ?? "application/octet-stream";
      return new Response(bytes, { headers: { "content-type": type } });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    create: (name) => management.packages.add(name),
    published: management.published,
    changes: management.changes,
    sentBytes: () => sent,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
