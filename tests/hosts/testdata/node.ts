import { testsWith } from "../../testdata/tests_with.ts";

/** The releases that are supported. */
const RELEASES = [22, 24];

/** Returns the program of a release of Node; undefined where npm has none. */
function programOf(release: number): string | undefined {
  try {
    const { success, stdout } = new Deno.Command("npx", {
      args: ["-y", `node@${release}`, "-p", "process.execPath"],
    }).outputSync();
    return success ? new TextDecoder().decode(stdout).trim() : undefined;
  } catch {
    return undefined;
  }
}

/** Adds a test for each release of Node. */
export function nodeTests(
  name: string,
  run: (runNode: (...args: string[]) => Promise<string>) => Promise<void>,
): void {
  for (const release of RELEASES) {
    const program = programOf(release);
    testsWith(`Node ${release}`, program !== undefined)(
      `${name} in Node ${release}`,
      () => run((...args) => outputOf(program!, args)),
    );
  }
}

async function outputOf(program: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args })
    .output();
  if (success && stderr.length === 0) return new TextDecoder().decode(stdout);
  throw new Error(new TextDecoder().decode(stderr));
}
