/** The JSON beside the arrays of a checkpoint. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { decodeSafetensors } from "./safetensors.ts";
import { joinState, type Json } from "./_state_json.ts";
import type { StateTree } from "./state_tree.ts";

const format = "bellman-checkpoint";
const version = 1;

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
}

/** The text of a manifest. */
export function manifestText(
  step: number,
  file: string,
  arrays: Uint8Array,
  state: Json,
): string {
  const manifest: Manifest = {
    format,
    version,
    step,
    file,
    bytes: arrays.length,
    sha256: sha256(arrays),
    state,
  };
  return JSON.stringify(manifest, null, 1) + "\n";
}

/**
 * Reads a manifest and checks that its arrays are there in full length, without
 * reading them. Throws one line that names the file.
 */
export function readManifest(path: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw broken(
      path,
      error instanceof SyntaxError ? "it is not JSON" : messageOf(error),
    );
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
  const size = statSync(join(dirname(path), manifest.file), {
    throwIfNoEntry: false,
  })?.size;
  if (size === undefined) throw broken(path, `${manifest.file} is missing`);
  if (size !== manifest.bytes) {
    throw broken(
      path,
      `${manifest.file} has ${size} bytes, wanted ${manifest.bytes}`,
    );
  }
  return manifest;
}

/** The state of a checkpoint, after checking the arrays' hash. */
export function readState(path: string): { step: number; state: StateTree } {
  const manifest = readManifest(path);
  const arrays = readFileSync(join(dirname(path), manifest.file));
  if (sha256(arrays) !== manifest.sha256) {
    throw broken(path, `${manifest.file} does not have the hash it should`);
  }
  try {
    const { tensors } = decodeSafetensors(arrays);
    return { step: manifest.step, state: joinState(manifest.state, tensors) };
  } catch (error) {
    throw broken(path, messageOf(error));
  }
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function broken(path: string, why: string): SyntaxError {
  return new SyntaxError(`Cannot read checkpoint ${path}: ${why}`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
