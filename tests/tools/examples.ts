/** Checks that every exported symbol has an example in its documentation. */
import { packages, ROOT } from "./packages.ts";

interface Declaration {
  kind: string;
  jsDoc?: { tags?: { kind: string }[] };
}

interface DocSymbol {
  name: string;
  declarations: Declaration[];
}

async function symbolsOf(entryPoint: string): Promise<DocSymbol[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", entryPoint],
    cwd: ROOT,
  }).output();
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout));
  return Object.values<{ symbols: DocSymbol[] }>(nodes)
    .flatMap((it) => it.symbols);
}

function hasExample({ declarations }: DocSymbol): boolean {
  return declarations.some(({ jsDoc }) =>
    jsDoc?.tags?.some(({ kind }) => kind === "example")
  );
}

for (const { name, entryPoints } of await packages()) {
  for (const entryPoint of entryPoints) {
    for (const symbol of await symbolsOf(entryPoint)) {
      if (hasExample(symbol)) continue;
      console.error(`${name}: '${symbol.name}' has no example`);
      Deno.exitCode = 1;
    }
  }
}
