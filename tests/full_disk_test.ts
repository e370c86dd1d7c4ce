/** Whatever is written to a disk that is full, the error names the file. */
import { replaceFile, replaceFileSync, saveStateSync } from "@bellman/files";
import { createRunFolder, lockFile, writeRecord } from "@bellman/runs";
import { CsvLogger, TensorBoardLogger } from "@bellman/training";
import { assertEquals, assertRejects } from "@std/assert";
import { SyncFile } from "../buffers/storage/sync_file.ts";
import { SearchRecord } from "../lab/search/record.ts";
import { fileError } from "../lab/runs/program/errors.ts";
import { testWithDisk } from "./disks.ts";

const MEGABYTE = new Uint8Array(1 << 20);
const TEXT = "x".repeat(1 << 20);

/** Writers of a file with more than there is room for. */
const WRITERS: Readonly<Record<string, (path: string) => unknown>> = {
  "a.bin": (path) => replaceFile(path, MEGABYTE),
  "b.bin": (path) => replaceFileSync(path, MEGABYTE),
  "agent.safetensors": (path) => saveStateSync({ x: MEGABYTE }, path),
  "replay.rows": (path) => new SyncFile(path).write(0, MEGABYTE),
  "progress.csv": (path) =>
    new CsvLogger(path).write({ step: 1, statistics: { [TEXT]: 1 } }),
  "events.out.tfevents.0000000001.bellman": (path) =>
    new TensorBoardLogger(path.replace(/\/[^/]*$/, ""), { now: () => 1000 })
      .write({ step: 1, statistics: { [TEXT]: 1 } }),
  "run/config.yaml": (path) =>
    createRunFolder(path.replace(/\/[^/]*$/, ""), { configText: TEXT }),
  "run.json": (recordPath) =>
    writeRecord({ recordPath }, {
      ...{ state: "failed", reason: TEXT, since: "", begun: "", resumes: 0 },
      ...{ step: 0, updates: 0, episodes: 0, seconds: 0, settings: {} },
      ...{ engine: "eager", versions: {}, checkpoints: [] },
      evaluations: { during: [] },
    }),
  "trials.jsonl": (path) =>
    new SearchRecord(path).append({
      op: "ask",
      trial: 0,
      params: { gamma: TEXT },
    }),
  "run.lock": (path) => {
    const file = Deno.openSync(`${path}.more`, { write: true, create: true });
    try {
      for (;;) file.writeSync(MEGABYTE);
    } catch {
      lockFile(path, String);
    } finally {
      file.close();
    }
  },
};

testWithDisk(
  "errors of a full disk name the file that was written",
  "size=256k",
  async (disk) => {
    for (const [name, write] of Object.entries(WRITERS)) {
      const path = `${disk}/${name}`;
      const error = await assertRejects(async () => await write(path));
      assertEquals((error as { code?: string }).code, "ENOSPC", name);
      assertEquals(
        fileError(error)?.message,
        `Cannot use the file ${path}: the disk is full`,
      );
      for (const { name } of Deno.readDirSync(disk)) {
        Deno.removeSync(`${disk}/${name}`, { recursive: true });
      }
    }
  },
);
