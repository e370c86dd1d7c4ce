import { checkInPage } from "@bellman/client/page";
import { makeWorld } from "@bellman/envs";
import { isDeno } from "@bellman/files";
import type { World } from "@bellman/types";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf, UsageError } from "../program/errors.ts";
import { isPython } from "../settings/gymnasium.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";

/** Imports of a bundle that no page has. */
const FOREIGN = /\b(?:from|import)\s*\(?\s*["']((?:node|npm|jsr):[^"']+)["']/;

/** Options of {@linkcode gamePage}. */
export interface GamePageOptions {
  /** Bytes of the agent's ONNX file, with probabilities. */
  readonly policy: Uint8Array;
  /** URLs of the modules of the user that are bundled with the game. */
  readonly modules: readonly string[];
}

/**
 * Makes a page in which a person plays the game of a run against its agent: one file,
 * which needs no network.
 *
 * @param config Game of the run, which is registered.
 * @param options The agent, and modules that register the game in the page, too.
 * @returns The page, HTML.
 * @throws {UsageError} Outside of Deno, which bundles, or if something cannot be bundled.
 * @throws {TypeError} If the environment has one seat, or actions are not discrete.
 * @example
 * ```ts
 * import { gamePage } from "@bellman/runs/play";
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { assertRejects } from "@std/assert";
 *
 * const config = resolveConfig("a2c", { entries: [["env", "CartPole-v1"]] });
 * const line = "Cannot make worlds of CartPole-v1, which has one seat";
 * const options = { policy: new Uint8Array(), modules: [] };
 * await assertRejects(() => gamePage(config, options), TypeError, line);
 * ```
 */
export async function gamePage(
  { env, envKwargs: kwargs }: Pick<ResolvedConfig, "env" | "envKwargs">,
  { policy, modules }: GamePageOptions,
): Promise<string> {
  if (isPython(env)) {
    throw new UsageError(
      `Cannot write a page of ${env}: Python plays it, expected a game in TypeScript`,
    );
  }
  if (!isDeno() || Deno.build.standalone) {
    throw new UsageError(
      `Cannot write a page of ${env}: it needs Deno, which bundles it; with a bundler of yours use playInPage of @bellman/client/page, and export --probabilities`,
    );
  }
  const world: World = makeWorld(env, { numEnvs: 1, kwargs });
  checkInPage({ world, policy });
  world.close();
  const imported = (path: string) => JSON.stringify(import.meta.resolve(path));
  const script = await bundled(
    `import { playInPage } from ${imported("@bellman/client/page")};
import { makeWorld } from ${imported("@bellman/envs")};
${modules.map((it) => `import ${JSON.stringify(it)};`).join("\n")}
const find = (name) => document.querySelector(name);
playInPage(find("main"), {
  world: makeWorld(${JSON.stringify(env)}, ${
      JSON.stringify({ numEnvs: 1, kwargs })
    }),
  policy: Uint8Array.from(atob(find("template").innerHTML), (it) => it.charCodeAt(0)),
});`,
    env,
  );
  const { escapeMarkup } = await import("@bellman/training/plots");
  const title = escapeMarkup(env);
  return `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; background: light-dark(#f4f6f8, #0e1013); color: light-dark(#1c2024, #f0f3f6); }
body { max-width: 26rem; margin: 1.5rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.4rem; }
</style>
<h1>${title}</h1>
<main>This page needs JavaScript.</main>
<template>${policy.toBase64()}</template>
<script type="module">
${inMarkup(script)}</script>
</html>
`;
}

/** Writes what in a script's texts would end it, or what hides its end, in other ways. */
function inMarkup(script: string): string {
  return script.replaceAll(/<\/(?=script)/gi, "<\\/")
    .replaceAll("<!--", "<\\x21--");
}

/** Bundles a program for pages. */
async function bundled(program: string, env: string): Promise<string> {
  const refuse = (why: string) =>
    new UsageError(`Cannot write a page of ${env}: ${why}`);
  const main = Deno.mainModule;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform=browser", "--minify"],
      `data:text/javascript,${encodeURIComponent(program)}`,
    ],
    // Where the modules of this program have their names.
    ...main.startsWith("file:") && { cwd: dirname(fileURLToPath(main)) },
    env: { NO_COLOR: "1" },
  }).output();
  const [script, said] = [stdout, stderr].map((it) =>
    new TextDecoder().decode(it)
  );
  if (!success) throw refuse(messageOf(said.replace(/^error: /, "")));
  const [, foreign] = FOREIGN.exec(script) ?? [];
  if (foreign === undefined) return script;
  throw refuse(`it imports ${foreign}, which no page has`);
}
