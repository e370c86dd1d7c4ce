/**
 * Checks that every module, exported function and class has an example in its
 * documentation, and that nothing else has one.
 */
import { denoOutput } from "./deno_output.ts";
import { packages, ROOT } from "./packages.ts";

interface JsDoc {
  tags?: { kind: string }[];
}

interface DocSymbol {
  name: string;
  declarations: {
    kind: string;
    jsDoc?: JsDoc;
    location: { filename: string };
  }[];
}

interface DocModule {
  module_doc?: JsDoc;
  symbols: DocSymbol[];
}

async function modulesOf(entryPoint: string): Promise<DocModule[]> {
  const output = await denoOutput(["doc", "--json", entryPoint]);
  return Object.values(JSON.parse(output).nodes);
}

const hasExample = (doc: JsDoc | undefined): boolean =>
  doc?.tags?.some(({ kind }) => kind === "example") ?? false;

function problemsOf({ module_doc, symbols }: DocModule): string[] {
  const ofSymbols = symbols.flatMap(({ name, declarations }) => {
    // Those of npm are documented there.
    const needsOne = declarations.some(({ kind, location }) =>
      (kind === "function" || kind === "class") &&
      location.filename.startsWith(`file://${ROOT}`)
    );
    const hasOne = declarations.some(({ jsDoc }) => hasExample(jsDoc));
    if (needsOne === hasOne) return [];
    return needsOne
      ? [`'${name}' has no example`]
      : [`'${name}' has an example: only functions, classes and modules do`];
  });
  return hasExample(module_doc)
    ? ofSymbols
    : ["its module's documentation has no example", ...ofSymbols];
}

for (const { entryPoints } of await packages()) {
  for (const entryPoint of entryPoints) {
    for (const problem of (await modulesOf(entryPoint)).flatMap(problemsOf)) {
      console.error(`${entryPoint}: ${problem}`);
      Deno.exitCode = 1;
    }
  }
}
