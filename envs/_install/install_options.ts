import { InstallError } from "./install_error.ts";

/** What the command line of an install task asks for. */
export interface InstallOptions {
  /** Whether the licences are accepted. */
  acceptLicense: boolean;
  /** Whether wheels of other versions than the pinned one are taken. */
  allowOtherVersion: boolean;
  /** Wheels given by path; what is not given is downloaded. */
  wheels: string[];
  /** The folder to install into. */
  dir?: string;
}

/**
 * Reads an install task's arguments.
 *
 * @param args As typed.
 * @param task The task's name, for the usage line.
 * @throws {InstallError} If one is not known, lacks its value, or is one folder
 * too many.
 */
export function parseInstallOptions(
  args: readonly string[],
  task: string,
): InstallOptions {
  const options: InstallOptions = {
    acceptLicense: false,
    allowOtherVersion: false,
    wheels: [],
  };
  const rest = args.flatMap((arg) =>
    /^--(wheel|dir)=/.test(arg) ? arg.split(/=(.*)/s).slice(0, 2) : [arg]
  );
  while (rest.length > 0) {
    const arg = rest.shift()!;
    const takesValue = arg === "--wheel" || arg === "--dir";
    const value = takesValue ? rest.shift() : undefined;
    if (arg === "--accept-license") options.acceptLicense = true;
    else if (arg === "--allow-other-version") options.allowOtherVersion = true;
    else if (!takesValue) fail(`unknown argument '${arg}'`, task);
    else if (!value) fail(`${arg} lacks its path`, task);
    else if (arg === "--wheel") options.wheels.push(value);
    else if (options.dir !== undefined) fail(`${arg} is given twice`, task);
    else options.dir = value;
  }
  return options;
}

/** Whether the arguments ask how the task is used. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.includes("--help") || args.includes("-h");
}

/** How a task is used, in one line. */
export function usageOf(task: string): string {
  return `usage: ${task} [--accept-license] [--wheel PATH ...] [--dir DIR] [--allow-other-version]`;
}

function fail(problem: string, task: string): never {
  throw new InstallError(`${problem}, ${usageOf(task)}`);
}
