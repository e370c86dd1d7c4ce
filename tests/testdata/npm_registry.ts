/** Registry of npm packages on 127.0.0.1: Verdaccio, which passes on what it lacks from npm's. */
import { join } from "node:path";
import { nodes, npmInstall } from "./run_node.ts";

/** Registry that runs until it is disposed. */
export interface NpmRegistry extends AsyncDisposable {
  /** Address, for `NPM_CONFIG_REGISTRY`. */
  readonly url: string;
  /** Variables of the environment with which npm publishes there, and installs from there. */
  readonly env: Readonly<Record<string, string>>;
  /** Bytes that were sent so far, as they go over the network. */
  sentBytes(): number;
}

const VERDACCIO = "6.10.4";

/** Its packages need a node-fetch by a tag that some mirrors of npm lack. */
const OVERRIDES = { "node-fetch": "2.7.0" };

/** Packages of this project are published here only, others are npm's. */
const CONFIG = {
  storage: "./storage",
  uplinks: {
    npmjs: { url: "https://registry.npmjs.org/", timeout: "120s" },
  },
  packages: {
    "@bellman/*": { access: "$all", publish: "$all" },
    "**": { access: "$all", proxy: "npmjs" },
  },
  log: { type: "stdout", format: "pretty", level: "error" },
};

/** Listens, and passes connections on to another port. */
function passOn(port: number): {
  port: number;
  sentBytes: () => number;
  close: () => void;
} {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let sent = 0;
  const count = () =>
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        sent += chunk.length;
        controller.enqueue(chunk);
      },
    });
  const serve = async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      // Either side may end a connection at any time.
      client.readable.pipeTo(server.writable).catch(() => {});
      server.readable.pipeThrough(count()).pipeTo(client.writable)
        .catch(() => {});
    }
  };
  serve();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    sentBytes: () => sent,
    close: () => listener.close(),
  };
}

/** Returns a port that nobody listens at. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

/** Waits until a server answers. */
async function answering(url: string, child: Deno.ChildProcess): Promise<void> {
  let ended = false;
  child.status.then(() => ended = true);
  for (;;) {
    const response = await fetch(`${url}/-/ping`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    if (ended) throw new Error("Verdaccio ended before it answered");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Serves a registry.
 *
 * @param folder Empty folder for its program and its packages.
 * @returns The registry, which knows npm's packages and takes those of this project.
 */
export async function serveNpm(folder: string): Promise<NpmRegistry> {
  await Deno.writeTextFile(
    join(folder, "package.json"),
    JSON.stringify({ private: true, overrides: OVERRIDES }),
  );
  await npmInstall(folder, `verdaccio@${VERDACCIO}`);
  // YAML takes JSON.
  const config = join(folder, "config.yaml");
  await Deno.writeTextFile(config, JSON.stringify(CONFIG));
  const inner = freePort();
  const counted = passOn(inner);
  const url = `http://127.0.0.1:${counted.port}`;
  const program = join(folder, "node_modules/verdaccio/bin/verdaccio");
  const child = new Deno.Command(nodes.at(-1)!.path, {
    args: [program, "-c", config, "-l", `127.0.0.1:${inner}`],
    // Addresses of archives are those that are counted.
    env: { VERDACCIO_PUBLIC_URL: url },
    cwd: folder,
    stdout: "null",
    stderr: "null",
  }).spawn();
  await answering(`http://127.0.0.1:${inner}`, child);
  return {
    url,
    env: {
      NPM_CONFIG_REGISTRY: url,
      // Anybody may publish, but npm asks for a login.
      [`npm_config_//127.0.0.1:${counted.port}/:_authToken`]: "anybody",
    },
    sentBytes: counted.sentBytes,
    async [Symbol.asyncDispose]() {
      counted.close();
      child.kill();
      await child.status;
    },
  };
}
