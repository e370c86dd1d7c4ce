import type {
  GroupSource,
  ModuleSource,
  RegisteredSource,
} from "./group_source.ts";

/** A source in full. */
export type CheckedSource = RegisteredSource | ModuleSource;

/** Throws unless a host elsewhere can make copies from a source. */
export function checkSource(source: GroupSource): CheckedSource {
  const full = typeof source === "string" ? { id: source } : source;
  if ("id" in full) {
    for (const url of full.imports ?? []) checkUrl(url);
    checkClonable(full.kwargs, `kwargs of ${full.id}`);
  } else {
    checkUrl(full.module);
    checkClonable(full.options, `options of ${full.module}`);
  }
  return full;
}

function checkUrl(url: string): void {
  if (URL.canParse(url)) return;
  throw new TypeError(
    `Cannot import '${url}' in a host: expected an absolute URL, such as import.meta.resolve(${
      JSON.stringify(url)
    })`,
  );
}

function checkClonable(data: unknown, name: string): void {
  try {
    structuredClone(data);
  } catch (error) {
    throw new TypeError(
      `Cannot send the ${name} to a host: ${
        joinLines((error as Error).message)
      }; expected plain data, and functions in a module that the host imports`,
    );
  }
}

/** What could not be cloned may be shown over many lines. */
function joinLines(text: string): string {
  return text.replaceAll(/\s+/g, " ").replace(/\.$/, "");
}
