import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { escapeMarkup } from "@bellman/training/plots";

const LANGUAGES = { bash, json, python, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}

/** Writes code as HTML with classes for its colours; that of other languages as it is. */
export function highlight(code: string, language: string): string {
  if (hljs.getLanguage(language) === undefined) return escapeMarkup(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
