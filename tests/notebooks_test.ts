/**
 * The notebooks run from their first cell to their last one, in the repository and
 * outside of it, and show what they say.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { pythonWith } from "./export/python.ts";
import { testsWith } from "./testdata/tests_with.ts";
import { withFolder } from "./testdata/with_folder.ts";
import { ROOT } from "./tools/packages.ts";

const NOTEBOOKS = ["first_agent", "compare"];
const python = pythonWith("nbclient");
const nbclientTest = testsWith("nbclient", python !== undefined);

/** Output of a cell. */
interface Output {
  /** Streams: what was printed. */
  text?: string;
  /** Results, by media type. */
  data?: Record<string, string>;
}

/**
 * Runs a notebook in a folder, and writes nothing to the user's home.
 *
 * @returns What the cells of code show, by their ids.
 */
async function runNotebook(
  name: string,
  folder: string,
): Promise<Record<string, Output[]>> {
  const jupyter = `${folder}/jupyter`, kernel = `${jupyter}/kernels/deno`;
  await Deno.mkdir(kernel, { recursive: true });
  const spec = {
    argv: [
      ...[Deno.execPath(), "jupyter", "--kernel"],
      ...["--conn", "{connection_file}"],
    ],
    display_name: "Deno",
    language: "typescript",
  };
  await Deno.writeTextFile(`${kernel}/kernel.json`, JSON.stringify(spec));
  const { success, stdout, stderr } = await new Deno.Command(python!, {
    args: [
      `${ROOT}tests/testdata/run_notebook.py`,
      `${ROOT}docs/notebooks/${name}.ipynb`,
      folder,
    ],
    env: {
      JUPYTER_PATH: jupyter,
      JUPYTER_DATA_DIR: jupyter,
      JUPYTER_CONFIG_DIR: jupyter,
      JUPYTER_RUNTIME_DIR: `${jupyter}/runtime`,
    },
  }).output();
  const [out, err] = [stdout, stderr].map((it) => new TextDecoder().decode(it));
  assert(success, err);
  return JSON.parse(out);
}

/** What the last expression of a cell shows as a media type. */
function resultOf(outputs: Output[], type: string): string {
  const { data } = outputs.at(-1)!;
  assert(data?.[type] !== undefined, JSON.stringify(outputs).slice(0, 500));
  return data[type];
}

/** Text of a plain result, without its colours. */
const plain = (outputs: Output[]) =>
  // deno-lint-ignore no-control-regex
  resultOf(outputs, "text/plain").replaceAll(/\x1b\[\d+m/g, "");

Deno.test("notebooks are stored without outputs, for Deno's kernel", () => {
  for (const name of NOTEBOOKS) {
    const text = Deno.readTextFileSync(`${ROOT}docs/notebooks/${name}.ipynb`);
    const { cells, metadata } = JSON.parse(text);
    assertEquals(metadata.kernelspec.name, "deno");
    for (const cell of cells) {
      assertEquals(cell.metadata, {}, cell.id);
      if (cell.cell_type !== "code") {
        const links = [...cell.source.join("").matchAll(/\]\((.*?)\)/g)];
        for (const [, it] of links) {
          Deno.statSync(`${ROOT}docs/notebooks/${it}`);
        }
        continue;
      }
      assertEquals([cell.execution_count, cell.outputs], [null, []], cell.id);
    }
  }
});

nbclientTest(
  "an agent learns in a notebook outside of the repository",
  () =>
    withFolder(async (folder) => {
      const guide = Deno.readTextFileSync(`${ROOT}docs/guides/notebooks.md`);
      const config = JSON.parse(guide.match(/```json\n(.*?)```/s)![1]);
      assertEquals(config.links, ["../bellman"]);
      await Deno.writeTextFile(
        `${folder}/deno.json`,
        JSON.stringify({ ...config, links: [ROOT] }),
      );
      const { train, curve, episode, policy } = await runNotebook(
        "first_agent",
        folder,
      );
      const [, result] = train[0].text!.match(
        /^100000 steps: return ([\d.]+)$/m,
      )!;
      assert(Number(result) > 300, result);
      assertMatch(resultOf(curve, "image/svg+xml"), /^<svg .*solved: 475/s);
      const [, base64] = resultOf(episode, "text/html")
        .match(/^<img alt="[^"]+" src="data:image\/gif;base64,(.*)">$/)!;
      const gif = new TextDecoder("latin1").decode(
        Uint8Array.fromBase64(base64),
      );
      assert(gif.startsWith("GIF89a"));
      assertEquals(plain(policy), "Int32Array(2) [ 1, 0 ]");
      assert(Deno.statSync(`${folder}/policy.onnx`).size > 1000);
    }),
);

nbclientTest("two algorithms are compared in a notebook", async () => {
  const folder = await Deno.makeTempDir({
    dir: ROOT,
    prefix: ".examples-notebooks-",
  });
  try {
    const { experiment, returns, statistics, intervals, curves, report } =
      await runNotebook("compare", folder);
    const told = experiment.map(({ text }) => text ?? "").join("");
    assertEquals(told.match(/^(a2c|ppo), seed \d: \d+\.\d$/gm)?.length, 10);
    assertMatch(plain(returns), /a2c: \[[^\]]*\],\s+ppo: \[/);
    const table = resultOf(statistics, "text/markdown");
    const values = [
      ...table.matchAll(/^\| (\S+): IQM .*? \| (\d+) \| (\d+) to/gm),
    ];
    assertEquals(values.map(([, name]) => name), ["a2c", "ppo"]);
    // Random actions return 22.
    for (const [line, , mean, low] of values) {
      assert(Number(mean) > 150 && Number(low) > 60, line);
    }
    assertMatch(table, /^\| P\(a2c > ppo\) \| [01]\.\d\d \| [01]\.\d\d to /m);
    for (const figure of [intervals, curves]) {
      assertMatch(resultOf(figure, "image/svg+xml"), /^<svg .*a2c.*ppo/s);
    }
    assertMatch(
      resultOf(report, "text/markdown"),
      /^## CartPole-v1, last agents/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
