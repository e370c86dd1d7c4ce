import { capture, type Captured } from "../../../cli/testdata/capture.ts";

/** A folder with a file, in which the search of its text runs. */
export async function withSearch(
  act: (
    search: (text: string, ...options: string[]) => Promise<Captured>,
    dir: string,
  ) => Promise<void>,
): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "bellman-search-" });
  try {
    await act(async (text, ...options) => {
      await Deno.writeTextFile(`${root}/s.yaml`, text);
      return await capture(
        "search",
        `${root}/s.yaml`,
        "--out",
        `${root}/s`,
        ...options,
      );
    }, `${root}/s`);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}
