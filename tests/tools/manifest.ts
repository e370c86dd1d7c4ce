/** What registries show of a package: its description, its words and its repository. */
import { ROOT } from "./packages.ts";

/** Letters that JSR takes of a description. */
const MOST_LETTERS = 250;

/** Text of a piece of Markdown, without marks and the addresses of links. */
function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/ \(https?:[^)]*\)/g, "").replaceAll("`", "")
    .replaceAll("\n", " ");
}

/**
 * Describes a package by the first sentence of its README, or by what that says before
 * its colon where the sentence is long.
 *
 * @param folder Folder of the package, relative to the root.
 * @returns At most 250 letters, without a full stop.
 */
export function descriptionOf(folder: string): string {
  const readme = Deno.readTextFileSync(`${ROOT}${folder}/README.md`);
  const [, paragraph] = /^# .+\n\n([^]+?)\n\n/.exec(readme)!;
  const [, first] = /^([^]+?)\.(?:\s[A-Z`[]|$)/.exec(paragraph)!;
  const sentence = plainText(first);
  return sentence.length <= MOST_LETTERS ? sentence : sentence.split(":")[0];
}

/** Returns what a variable of the environment holds, if that is anything. */
function variable(name: string): string | undefined {
  return Deno.env.get(name) || undefined;
}

/**
 * Returns the address of the repository on GitHub: in a workflow its own, elsewhere the
 * one that the checkout was cloned from.
 *
 * @returns An address such as `https://github.com/OWNER/NAME`, if there is one.
 */
export function repositoryUrl(): string | undefined {
  const name = variable("GITHUB_REPOSITORY");
  if (name !== undefined) return `https://github.com/${name}`;
  const args = ["remote", "get-url", "origin"];
  const { stdout } = new Deno.Command("git", { args, cwd: ROOT }).outputSync();
  const url = new TextDecoder().decode(stdout).trim();
  const [, found] = /github\.com[:/]([^/]+\/[^/]+?)(?:\.git)?$/.exec(url) ??
    [];
  return found && `https://github.com/${found}`;
}

/** Words that all packages are found by. */
const KEYWORDS = ["reinforcement-learning", "machine-learning", "typescript"];

/** Words that single packages are found by, beside their names. */
const OWN_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  "@bellman/bandits": ["contextual-bandit", "thompson-sampling", "ab-testing"],
  "@bellman/buffers": ["replay-buffer", "prioritized-replay"],
  "@bellman/cli": ["command-line", "training"],
  "@bellman/client": ["onnx", "games"],
  "@bellman/compute": ["tensorflow", "onnx", "onnxruntime", "compiler"],
  "@bellman/envs": ["gymnasium", "environments", "cartpole"],
  "@bellman/experiments": ["benchmark", "hyperparameters"],
  "@bellman/files": ["safetensors", "npy", "npz"],
  "@bellman/kfac": ["natural-gradient", "tensorflow"],
  "@bellman/policies": ["neural-network", "distributions", "tensorflow"],
  "@bellman/random": ["random-numbers", "seed"],
  "@bellman/returns": ["gae", "v-trace", "retrace"],
  "@bellman/runs": ["training", "checkpoints"],
  "@bellman/schedulers": ["learning-rate", "schedule"],
  "@bellman/search": ["hyperparameters", "optuna"],
  "@bellman/statistics": ["bootstrap", "confidence-interval", "rliable"],
};

/**
 * Lists the words that a package is found by.
 *
 * @param name Its name, such as `@bellman/a2c`.
 */
export function keywordsOf(name: string): string[] {
  const [, short] = name.split("/");
  return [...KEYWORDS, short, ...OWN_KEYWORDS[name] ?? []];
}
