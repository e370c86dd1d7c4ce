import type { Checkpoint } from "@bellman/training";
import { parseYaml } from "../config/yaml.ts";
import type { CardSource } from "./card.ts";
import { PICTURE_FILE } from "./shared_files.ts";

/** Collects what the other files of a folder say for its card. */
export function sourceOf(
  configText: string,
  { step, notes, files }: Pick<Checkpoint, "step" | "notes"> & {
    files: { has(name: string): boolean };
  },
): CardSource {
  return {
    config: parseYaml(configText) as CardSource["config"],
    step,
    command: String(notes.command),
    spaces: parseYaml(String(notes.spaces)) as CardSource["spaces"],
    hasPicture: files.has(PICTURE_FILE),
  };
}
