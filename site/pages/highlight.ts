import hljs from "npm:highlight.js@^11.12.0/lib/core";
import bash from "npm:highlight.js@^11.12.0/lib/languages/bash";
import json from "npm:highlight.js@^11.12.0/lib/languages/json";
import python from "npm:highlight.js@^11.12.0/lib/languages/python";
import typescript from "npm:highlight.js@^11.12.0/lib/languages/typescript";
import xml from "npm:highlight.js@^11.12.0/lib/languages/xml";
import yaml from "npm:highlight.js@^11.12.0/lib/languages/yaml";
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
