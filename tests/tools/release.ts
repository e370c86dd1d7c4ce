// deno-lint-ignore-file no-console -- a program that prints
/**
 * Publishes all packages: `deno task release jsr` to JSR, `deno task release npm` to
 * npm. Versions that are there already are left out, so that a release which broke off
 * is simply repeated. The registries are others where `JSR_URL` and
 * `NPM_CONFIG_REGISTRY` say so.
 *
 * In a workflow of GitHub both registries know who asks. Elsewhere npm takes the login
 * of `npm login`, and JSR the token in `JSR_TOKEN`, which also creates the packages that
 * JSR lacks, and writes their descriptions and the repository whose workflow may publish
 * them.
 */
import { cpSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { descriptionOf, repositoryUrl } from "./manifest.ts";
import { type Package, packages, ROOT } from "./packages.ts";

/** Ends the release with a line. */
class ReleaseError extends Error {}

/** Runs a program to its end, and throws where it fails. */
async function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<void> {
  const { code } = await new Deno.Command(program, { args: [...args], cwd })
    .spawn().status;
  if (code !== 0) {
    throw new ReleaseError(`${program} ${args[0]} ended with code ${code}`);
  }
}

/** Returns what a program prints; undefined where it fails. */
async function outputOf(
  program: string,
  ...args: string[]
): Promise<string | undefined> {
  const { success, stdout } = await new Deno.Command(program, {
    args,
    cwd: ROOT,
  }).output();
  return success ? new TextDecoder().decode(stdout) : undefined;
}

/** Copies the files of the working tree that git knows or would add. */
async function copyTree(to: string): Promise<void> {
  const flags = ["-z", "--cached", "--others", "--exclude-standard"];
  const names = await outputOf("git", "ls-files", ...flags);
  if (names === undefined) throw new ReleaseError("git lists no files");
  for (const name of new Set(names.split("\0"))) {
    if (name === "" || !existsSync(ROOT + name)) continue;
    await Deno.mkdir(dirname(join(to, name)), { recursive: true });
    cpSync(ROOT + name, join(to, name));
  }
}

/** Calls JSR's management interface; undefined where it finds nothing. */
async function askJsr(
  path: string,
  { method = "GET", token, body }: {
    method?: string;
    token: string;
    body?: object;
  },
): Promise<unknown> {
  const address = Deno.env.get("JSR_URL") ?? "https://jsr.io";
  const response = await fetch(`${address}/api/scopes/${path}`, {
    method,
    headers: {
      "authorization": `Bearer ${token}`,
      "content-type": "application/json",
      "user-agent": "bellman-release",
    },
    ...body && { body: JSON.stringify(body) },
  });
  const answer = await response.json();
  if (response.ok) return answer;
  if (response.status === 404) return undefined;
  throw new ReleaseError(`JSR refused ${method} ${path}: ${answer.message}`);
}

/** Creates the packages that JSR lacks, and says what and whose they are. */
async function createPackages(token: string): Promise<void> {
  const [, owner, repository] =
    /^https:\/\/github\.com\/([^/]+)\/([^/]+)$/.exec(repositoryUrl() ?? "") ??
      [];
  for (const { name, folder } of await packages()) {
    const [scope, short] = name.slice(1).split("/");
    const path = `${scope}/packages/${short}`;
    if (await askJsr(path, { token }) === undefined) {
      const body = { package: short };
      await askJsr(`${scope}/packages`, { method: "POST", token, body });
      console.log(`Created ${name}`);
    }
    const changes = [
      { description: descriptionOf(folder) },
      ...owner === undefined
        ? []
        : [{ githubRepository: { owner, name: repository } }],
    ];
    for (const body of changes) {
      await askJsr(path, { method: "PATCH", token, body });
    }
  }
}

async function releaseToJsr(work: string): Promise<void> {
  const token = Deno.env.get("JSR_TOKEN");
  if (token) await createPackages(token);
  await copyTree(work);
  // The packages depend on the real jsr:@std packages, so they are resolved without the
  // links that stand in for them in a checkout.
  await Deno.copyFile(join(work, "deno.jsr.json"), join(work, "deno.json"));
  for (const lock of ["deno.lock", "tests/deno.lock"]) {
    await Deno.remove(join(work, lock));
  }
  const flags = ["--allow-dirty", ...token ? ["--token", token] : []];
  await run(Deno.execPath(), ["publish", ...flags], work);
}

/** Returns true where npm has a version of a package. */
async function isOnNpm({ name, version }: Package): Promise<boolean> {
  const found = await outputOf("npm", "view", `${name}@${version}`, "name");
  return found !== undefined && found.trim() !== "";
}

async function releaseToNpm(work: string): Promise<void> {
  const missing: Package[] = [];
  for (const it of await packages()) {
    if (!await isOnNpm(it)) missing.push(it);
    else console.log(`Skipping, already published ${it.name}@${it.version}`);
  }
  if (missing.length === 0) return;
  const pack = ["task", "-q", "pack", "--out", work];
  await run(Deno.execPath(), pack, ROOT);
  for (const { name, version } of missing) {
    const file = `${name.slice(1).replace("/", "-")}-${version}.tgz`;
    // Quiet, as it else lists all files.
    const flags = ["--access=public", "--quiet"];
    await run("npm", ["publish", join(work, file), ...flags], work);
  }
}

/** Throws for a tag of another version than that of the packages. */
async function checkTag(): Promise<void> {
  if (Deno.env.get("GITHUB_REF_TYPE") !== "tag") return;
  const tag = Deno.env.get("GITHUB_REF_NAME");
  for (const { name, version } of await packages()) {
    if (tag === `v${version}`) continue;
    throw new ReleaseError(
      `Cannot release ${tag}: ${name} has version ${version}`,
    );
  }
}

const RELEASES: Readonly<Record<string, typeof releaseToJsr>> = {
  jsr: releaseToJsr,
  npm: releaseToNpm,
};
const [registry, ...rest] = Deno.args;
const release = RELEASES[registry];
if (release === undefined || rest.length > 0) {
  console.error("usage: deno task release jsr | npm");
  Deno.exit(2);
}
const work = await Deno.makeTempDir({ prefix: "bellman-release-" });
try {
  await checkTag();
  await release(work);
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(`error: ${error.message}`);
  Deno.exitCode = 1;
} finally {
  await Deno.remove(work, { recursive: true });
}
