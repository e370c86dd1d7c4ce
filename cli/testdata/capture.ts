import { run } from "../command_line.ts";

/** What a command line printed and returned. */
export interface Captured {
  code: number;
  out: string;
  err: string;
}

/** Runs a command line in this process and keeps what it prints. */
export async function capture(...args: string[]): Promise<Captured> {
  const captured = { code: -1, out: "", err: "" };
  captured.code = await run(args, {
    out: (text) => captured.out += text,
    err: (text) => captured.err += text,
    outIsTerminal: false,
    errIsTerminal: false,
  });
  return captured;
}
