import { stripVTControlCharacters } from "node:util";

/** A text without colours and without space around it. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).trim();
}

/** The first line of a text, without colours: what it says in short. */
export function firstLine(text: string): string {
  return plainText(text).split("\n", 1)[0].trimEnd();
}
