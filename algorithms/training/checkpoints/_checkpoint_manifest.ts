/** The JSON beside the arrays of a checkpoint. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { decodeSafetensors } from "../safetensors.ts";
import { joinState, type Json } from "../_state_json.ts";
import type { StateTree } from "@bellman/types";

const format = "bellman-checkpoint";
const version = 2;

/** A manifest's content. */
export interface Manifest {
  readonly format: string;
  readonly version: number;
  readonly step: number;
  /** Name of the file of arrays, in the same folder. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly state: Json;
  /** Plain values beside the state. */
  readonly notes: Json;
  /** SHA-256 of everything above, in hexadecimal: a changed number is no checkpoint. */
  readonly checksum: string;
}

/** The text of a manifest. */
export function manifestText(
  { step, file, arrays, state, notes }:
    & Pick<Manifest, "step" | "file" | "state" | "notes">
    & { arrays: Uint8Array },
): string {
  const content = {
    format,
    version,
    step,
    file,
    bytes: arrays.length,
    sha256: sha256(arrays),
    state,
    notes,
  };
  const manifest: Manifest = { ...content, checksum: checksumOf(content) };
  return JSON.stringify(manifest, null, 1) + "\n";
}

/** Without spaces, so that it depends on the values alone. */
function checksumOf(content: Omit<Manifest, "checksum">): string {
  return sha256(JSON.stringify(content));
}

/**
 * Reads a manifest, checks that no value in it has changed and that its arrays
 * are there in full length, without reading them. Throws one line that names
 * the file.
 */
export function readManifest(path: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const why = (error as { code?: string }).code === "EISDIR"
      ? "it is a folder"
      : messageOf(error);
    throw broken(path, error instanceof SyntaxError ? "it is not JSON" : why);
  }
  if (manifest?.format !== format) throw broken(path, "it is no manifest");
  if (manifest.version !== version) {
    throw broken(
      path,
      `it has format version ${manifest.version}, wanted ${version}`,
    );
  }
  if (
    !Number.isSafeInteger(manifest.step) || typeof manifest.file !== "string" ||
    /[/\\]/.test(manifest.file)
  ) throw broken(path, "its step or file name is damaged");
  const { checksum, ...content } = manifest;
  if (checksumOf(content) !== checksum) {
    throw broken(path, "its content does not have the hash it should");
  }
  const named = /^step_(\d+)\.json$/.exec(basename(path));
  if (named && Number(named[1]) !== manifest.step) {
    throw broken(path, `it is of step ${manifest.step}`);
  }
  // Another one that was copied over it is whole, but not the best.
  if (basename(path) === "best.json" && !manifest.file.startsWith("best")) {
    throw broken(path, "it is a copy of another checkpoint");
  }
  const arrays = statSync(join(dirname(path), manifest.file), {
    throwIfNoEntry: false,
  });
  if (!arrays?.isFile()) throw broken(path, `${manifest.file} is missing`);
  const { size } = arrays;
  if (size !== manifest.bytes) {
    throw broken(
      path,
      `${manifest.file} has ${size} bytes, wanted ${manifest.bytes}`,
    );
  }
  return manifest;
}

/** A checkpoint, after checking the arrays' hash. */
export function readCheckpoint(
  path: string,
): { step: number; state: StateTree; notes: { [key: string]: StateTree } } {
  const manifest = readManifest(path);
  const arrays = readFileSync(join(dirname(path), manifest.file));
  if (sha256(arrays) !== manifest.sha256) {
    throw broken(path, `${manifest.file} does not have the hash it should`);
  }
  try {
    const { tensors } = decodeSafetensors(arrays);
    return {
      step: manifest.step,
      state: joinState(manifest.state, tensors),
      notes: notesOf(manifest),
    };
  } catch (error) {
    throw broken(path, messageOf(error));
  }
}

/** What was noted beside the state. */
export function notesOf({ notes }: Manifest): { [key: string]: StateTree } {
  return joinState(notes, new Map()) as { [key: string]: StateTree };
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function broken(path: string, why: string): SyntaxError {
  return new SyntaxError(`Cannot read checkpoint ${path}: ${why}`);
}

function sha256(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}
