import { assertEquals } from "@std/assert";
import { BoardIndex } from "./board_index.ts";
import {
  HEADER,
  makeRun,
  rowsOf,
} from "../../lab/runs/folder/testdata/folders.ts";

const root = Deno.realPathSync(
  await Deno.makeTempDir({ prefix: "bellman-board-index-" }),
);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(root, { recursive: true });
});

const log = `${HEADER}\n${rowsOf(0, 5)}`;

Deno.test("folders are found wherever they lie, once, and links are not followed", async () => {
  makeRun(`${root}/a/one`, { log });
  makeRun(`${root}/a/deep/er/two`, { log });
  // What lies in a run is none.
  makeRun(`${root}/a/one/inner`, { log });
  makeRun(`${root}/a/.hidden/run`, { log });
  makeRun(`${root}/a/node_modules/run`, { log });
  makeRun(`${root}/b/${"d/".repeat(9)}run`, { log });
  Deno.mkdirSync(`${root}/a/empty`);
  Deno.symlinkSync(`${root}/a`, `${root}/a/circle`);
  const index = new BoardIndex([root, `${root}/a`, `${root}/none`]);
  await index.lookAtAll();
  const { runs, notices } = index.since("");
  assertEquals(runs.map(({ name }) => name).sort(), ["a/deep/er/two", "a/one"]);
  assertEquals(notices, [
    `Folders more than 8 levels below ${root} are not shown`,
  ]);
  const alone = new BoardIndex([`${root}/a/one`]);
  await alone.lookAtAll();
  const [run] = alone.since("").runs;
  assertEquals([run.name, run.id], [
    "",
    runs.find(({ name }) => name === "a/one")!.id,
  ]);
});

Deno.test("a version leads to what has changed since, and nothing else", async () => {
  const dir = `${root}/versions`;
  for (const name of ["x", "y", "z"]) makeRun(`${dir}/${name}`, { log });
  const index = new BoardIndex([dir]);
  await index.lookAtAll();
  const first = index.since("");
  assertEquals([first.isWhole, first.runs.length], [true, 3]);
  assertEquals(index.isNewerThan(first.version), false);
  await index.lookAtAll();
  assertEquals(index.isNewerThan(first.version), false);
  Deno.writeTextFileSync(`${dir}/y/progress.csv`, rowsOf(5, 6), {
    append: true,
  });
  Deno.removeSync(`${dir}/z`, { recursive: true });
  await index.lookAtAll();
  const { isWhole, runs, gone, version } = index.since(first.version);
  assertEquals([isWhole, runs.map(({ name }) => name)], [false, ["y"]]);
  assertEquals(gone, [first.runs.find(({ name }) => name === "z")!.id]);
  // It comes back as it was.
  makeRun(`${dir}/z`, { log });
  await index.lookAtAll();
  const back = index.since(version);
  assertEquals([back.runs.map(({ id }) => id), back.gone], [gone, []]);
  // In pieces that go on from each other.
  const names: string[] = [];
  for (let at = "";;) {
    const piece = index.since(at, 1);
    assertEquals(piece.isWhole, at === "");
    names.push(...piece.runs.map(({ name }) => name));
    if (piece.version === at) break;
    at = piece.version;
  }
  assertEquals(names.sort(), ["x", "y", "z"]);
  assertEquals(new BoardIndex([dir]).since(version).isWhole, true);
});
