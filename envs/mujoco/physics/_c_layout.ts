/**
 * Offsets of the fields of C structs, read from the library's own headers. The
 * order and the number of fields change from version to version, so that a table
 * of offsets would fit one of them.
 */

/** A field of a struct. */
export interface CField {
  /** Bytes from the struct's beginning. */
  readonly offset: number;
  /** Bytes that it takes. */
  readonly size: number;
  /** Its type, such as `mjtNum` or `int`; with a star for a pointer. */
  readonly type: string;
}

/** Declarations of headers. */
export interface CLayout {
  /** Numbers by the name of a macro or of an enumerator. */
  readonly constants: ReadonlyMap<string, number>;
  /** Fields by their names, by the name of a struct. */
  readonly structs: ReadonlyMap<string, ReadonlyMap<string, CField>>;
}

interface CType {
  readonly size: number;
  readonly align: number;
}

interface Scope {
  readonly constants: Map<string, number>;
  readonly types: Map<string, CType>;
  readonly structs: Map<string, Map<string, CField>>;
}

/** Types of the language, as all 64-bit systems of Deno have them. */
const SIZES: Readonly<Record<string, number>> = {
  "char": 1,
  "unsigned char": 1,
  "bool": 1,
  "_Bool": 1,
  "int": 4,
  "unsigned int": 4,
  "uint32_t": 4,
  "float": 4,
  "double": 8,
  "int64_t": 8,
  "uint64_t": 8,
  "size_t": 8,
  "uintptr_t": 8,
};
const POINTER: CType = { size: 8, align: 8 };

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/\/\/.*$/gm, "");
}

/** Evaluates a constant expression of names, whole numbers, `| << + - *`. */
function valueOf(text: string, constants: ReadonlyMap<string, number>): number {
  const part = (it: string): number => valueOf(it, constants);
  const split = (mark: string, join: (a: number, b: number) => number) =>
    text.split(mark).map(part).reduce(join);
  if (text.includes("|")) return split("|", (a, b) => a | b);
  if (text.includes("<<")) return split("<<", (a, b) => a << b);
  if (text.includes("+")) return split("+", (a, b) => a + b);
  const minus = text.lastIndexOf("-");
  if (minus > 0 && text.slice(0, minus).trim() !== "") {
    return part(text.slice(0, minus)) - part(text.slice(minus + 1));
  }
  if (text.includes("*")) return split("*", (a, b) => a * b);
  const bare = text.replace(/[()]/g, "").trim();
  return constants.get(bare) ?? (bare === "" ? NaN : Number(bare));
}

function readMacros(source: string, constants: Map<string, number>): void {
  for (
    const [, name, text] of source.matchAll(
      /^[ \t]*#define[ \t]+(\w+)[ \t]+(\S.*)$/gm,
    )
  ) {
    const value = valueOf(text, constants);
    if (!Number.isNaN(value)) constants.set(name, value);
  }
}

function readEnums(source: string, { constants, types }: Scope): void {
  const found = source.matchAll(
    /typedef\s+enum\s+\w*\s*\{([^}]*)\}\s*(\w+)\s*;/g,
  );
  for (const [, body, name] of found) {
    types.set(name, { size: 4, align: 4 });
    let next = 0;
    for (const member of body.split(",")) {
      const [key, text] = member.split("=").map((it) => it.trim());
      if (key === "") continue;
      if (text !== undefined) next = valueOf(text, constants);
      constants.set(key, next++);
    }
  }
}

/** Reads names for other types; of a choice by a macro the first is the usual one. */
function readAliases(source: string, { types }: Scope): void {
  for (
    const [, of, name] of source.matchAll(/typedef\s+([\w ]+?)\s+(\w+)\s*;/g)
  ) {
    const type = types.get(of.trim());
    if (type !== undefined && !types.has(name)) types.set(name, type);
  }
  // Pointers to functions.
  for (const [, name] of source.matchAll(/typedef[\w\s*]+\(\s*\*\s*(\w+)\)/g)) {
    types.set(name, POINTER);
  }
}

/** Returns the text up to the brace that closes the one before `from`. */
function bodyAt(source: string, from: number): string {
  let depth = 1;
  for (let at = from; at < source.length; at++) {
    if (source[at] === "{") depth++;
    if (source[at] === "}" && --depth === 0) return source.slice(from, at);
  }
  throw new SyntaxError("Cannot read C headers: a struct is not closed");
}

function roundUp(at: number, align: number): number {
  return Math.ceil(at / align) * align;
}

/** A field's type, stars, name and lengths. */
const FIELD =
  /^(?:const\s+|volatile\s+|struct\s+)*([\w ]+?)\s*(\**)\s*(\w+)\s*((?:\[[^\]]*\]\s*)*)$/;

/** Place of a declaration, and of the body of a struct within it. */
interface Declaration {
  readonly start: number;
  readonly end: number;
  readonly inner?: [from: number, to: number];
}

/** Lists the declarations of a struct's body, each up to its semicolon. */
function* places(text: string): Generator<Declaration> {
  const body = text.trimEnd();
  for (let start = 0; start < body.length;) {
    const brace = body.indexOf("{", start);
    let end = body.indexOf(";", start), inner: [number, number] | undefined;
    if (brace >= 0 && brace < end) {
      const length = bodyAt(body, brace + 1).length;
      inner = [brace + 1, brace + 1 + length];
      end = body.indexOf(";", inner[1]);
    }
    if (end < 0) end = body.length;
    yield { start, end, inner };
    start = end + 1;
  }
}

/** Lays a struct's fields out one after the other, each aligned to its type. */
class StructBuilder {
  readonly fields: Map<string, CField> = new Map();
  #at = 0;
  #align = 1;
  #scope: Scope;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  get type(): CType {
    return { size: roundUp(this.#at, this.#align), align: this.#align };
  }

  add(body: string): this {
    for (const at of places(body)) {
      const declaration = body.slice(at.start, at.end).trim();
      if (at.inner === undefined) this.#addField(declaration);
      else this.#addNested(declaration, body.slice(...at.inner));
    }
    return this;
  }

  #addNested(declaration: string, body: string): void {
    const name = declaration.slice(declaration.lastIndexOf("}") + 1).trim();
    const { type } = new StructBuilder(this.#scope).add(body);
    this.#place(name, "struct", { ...type, count: 1 });
  }

  #addField(declaration: string): void {
    const found = declaration.match(FIELD);
    const type = found?.[2] ? POINTER : this.#scope.types.get(found?.[1] ?? "");
    if (found === null || type === undefined) {
      throw new SyntaxError(`Cannot read C headers: '${declaration}'`);
    }
    const count = [...found[4].matchAll(/\[([^\]]*)\]/g)].reduce(
      (product, [, text]) => product * valueOf(text, this.#scope.constants),
      1,
    );
    this.#place(found[3], found[1] + found[2], { ...type, count });
  }

  #place(
    name: string,
    type: string,
    { size, align, count }: CType & { count: number },
  ): void {
    const offset = roundUp(this.#at, align);
    if (!Number.isInteger(size * count)) {
      throw new SyntaxError(`Cannot read C headers: the length of '${name}'`);
    }
    this.fields.set(name, { offset, size: size * count, type });
    this.#at = offset + size * count;
    this.#align = Math.max(this.#align, align);
  }
}

/** Reads structs by their tags and by the names that are given to them. */
function readStructs(source: string, { types, structs, constants }: Scope) {
  const name = (given: string, fields: Map<string, CField>, type: CType) => {
    structs.set(given, fields);
    types.set(given, type);
  };
  const pattern = /\bstruct\s+(\w*)\s*(?:\{|(\w+)\s*;)/g;
  for (let it; (it = pattern.exec(source)) !== null;) {
    const [, tag, alias] = it, known = structs.get(tag);
    if (alias !== undefined) {
      if (known !== undefined) name(alias, known, types.get(tag)!);
      continue;
    }
    const body = bodyAt(source, pattern.lastIndex);
    const { fields, type } = new StructBuilder({ types, structs, constants })
      .add(body);
    pattern.lastIndex += body.length;
    const given = source.slice(pattern.lastIndex).match(/^\}\s*(\w+)/)?.[1];
    for (const it of [tag, given]) if (it) name(it, fields, type);
  }
}

/**
 * Reads constants, enumerators and plain structs of C headers.
 *
 * @param sources The headers' texts, each after those that it builds on.
 * @throws {SyntaxError} If a struct holds what cannot be read.
 */
export function readCLayout(sources: readonly string[]): CLayout {
  const scope: Scope = {
    constants: new Map(),
    types: new Map(
      Object.entries(SIZES).map((
        [name, size],
      ) => [name, { size, align: size }]),
    ),
    structs: new Map(),
  };
  for (const text of sources) {
    const source = withoutComments(text);
    readMacros(source, scope.constants);
    readEnums(source, scope);
    readAliases(source, scope);
    readStructs(source.replace(/^\s*#.*$/gm, ""), scope);
  }
  return scope;
}
