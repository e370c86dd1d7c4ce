/** A package of PyPI in one version, whose wheels are known by their hashes. */
export interface PinnedPackage {
  /** Its name, such as `ale-py`. */
  name: string;
  /** Its version, such as `0.12.1`. */
  version: string;
  /** What it is taken for, and under which licence, in one line. */
  licence: string;
  /** SHA-256 of its wheels by file name. */
  wheels: Readonly<Record<string, string>>;
  /** The wheel to take on a platform such as `linux-x86_64`. */
  wheelFor(platform: string): string | undefined;
  /**
   * Whether machine code is taken, so that only wheels for the machine's own
   * platform will do.
   *
   * @default false
   */
  isNative?: boolean;
  /**
   * Where in the installed folder an entry of the wheel goes; undefined for
   * entries that are left out. Licence files are kept anyway.
   */
  place(entry: string): string | undefined;
  /**
   * The variable of the environment that points to one's own copy: where it is
   * set and no wheel fits the platform, the package is left out.
   */
  variable: string;
}

/** The machine's platform, as the keys of {@linkcode PinnedPackage.wheelFor}. */
export function platform(): string {
  return `${Deno.build.os}-${Deno.build.arch}`;
}

/** The distribution name in a wheel's file name, as `multi_agent_ale_py`. */
export function distributionName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "_");
}
