import { builtin } from "@bellman/files";

/** Bytes of a checksum, which stands before the machine code. */
const CHECKSUM_BYTES = 32;

/** Settings of a cache. */
export interface CacheOptions {
  /** File of the plugin, whose content every key holds. */
  readonly plugin: string;
  /** Describes the device and all that the machine code depends on beside. */
  readonly target: readonly (string | Uint8Array)[];
  /**
   * Bytes that the folder may hold; the programs that were not used for the
   * longest time go first.
   *
   * @default 512 MiB
   */
  readonly maxBytes?: number;
}

const newHash = () => builtin("node:crypto").createHash("sha256");

/** Hashes parts so that none can be taken for the end of the one before. */
function hashOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = newHash();
  for (const part of parts) {
    const bytes = typeof part === "string"
      ? new TextEncoder().encode(part)
      : part;
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return hash.digest("hex");
}

function checksumOf(bytes: Uint8Array): Uint8Array {
  return newHash().update(bytes).digest();
}

/**
 * Machine code of programs on disk. A key holds the hash of the plugin's file:
 * code of another plugin may load without a word and compute wrong numbers. A
 * damaged file is detected by its checksum and ignored.
 */
export class ExecutableCache {
  readonly #folder: string;
  readonly #options: CacheOptions;
  /** Hash of the plugin and the target, made at the first use. */
  #base: string | undefined;

  /**
   * Opens a cache; nothing is read or written yet.
   *
   * @param folder The folder, made when it is needed.
   * @param options Plugin, target and size.
   */
  constructor(folder: string, options: CacheOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Returns the key of a program with all that it is compiled with. */
  keyOf(parts: readonly (string | Uint8Array)[]): string {
    const { plugin, target } = this.#options;
    this.#base ??= hashOf([this.#hashOfPlugin(plugin), ...target]);
    return hashOf([this.#base, ...parts]);
  }

  /** Returns the machine code of a key, if it is there and whole. */
  read(key: string): Uint8Array<ArrayBuffer> | undefined {
    const path = this.#pathOf(key);
    try {
      const bytes = Deno.readFileSync(path);
      const code = bytes.slice(CHECKSUM_BYTES);
      const checksum = checksumOf(code);
      if (!checksum.every((it, i) => it === bytes[i])) return undefined;
      const now = new Date();
      Deno.utimeSync(path, now, now);
      return code;
    } catch {
      return undefined;
    }
  }

  /** Keeps machine code; a disk that is full or not writable is no error. */
  write(key: string, code: Uint8Array): void {
    const bytes = new Uint8Array(CHECKSUM_BYTES + code.length);
    bytes.set(checksumOf(code));
    bytes.set(code, CHECKSUM_BYTES);
    this.#replace(this.#pathOf(key), bytes);
    this.#prune();
  }

  #pathOf(key: string): string {
    return `${this.#folder}/${key}.xla`;
  }

  #replace(path: string, bytes: Uint8Array): void {
    const temporary = `${path}.${Deno.pid}.tmp`;
    try {
      Deno.mkdirSync(this.#folder, { recursive: true });
      Deno.writeFileSync(temporary, bytes);
      Deno.renameSync(temporary, path);
    } catch {
      removeIfThere(temporary);
    }
  }

  /** Returns the plugin's SHA-256, kept for as long as its file is the same. */
  #hashOfPlugin(plugin: string): string {
    const { size, mtime, ino, dev } = Deno.statSync(plugin);
    const file = [plugin, size, mtime?.getTime(), ino, dev].join("\n");
    const path = `${this.#folder}/${hashOf([file])}.plugin`;
    try {
      const known = Deno.readTextFileSync(path);
      if (/^[0-9a-f]{64}$/.test(known)) return known;
    } catch {
      // It is hashed for the first time.
    }
    const hash = newHash().update(Deno.readFileSync(plugin)).digest("hex");
    this.#replace(path, new TextEncoder().encode(hash));
    return hash;
  }

  #prune(): void {
    const { maxBytes = 512 * 2 ** 20 } = this.#options;
    try {
      const programs = [...Deno.readDirSync(this.#folder)]
        .filter(({ name }) => /\.(xla|tmp)$/.test(name))
        .map(({ name }) => {
          const path = `${this.#folder}/${name}`;
          const { size, mtime } = Deno.statSync(path);
          return { path, size, time: mtime?.getTime() ?? 0 };
        })
        .sort((a, b) => b.time - a.time);
      let bytes = 0;
      for (const { path, size } of programs) {
        bytes += size;
        if (bytes > maxBytes) removeIfThere(path);
      }
    } catch {
      // Another process prunes, too.
    }
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It is gone, or stays.
  }
}
