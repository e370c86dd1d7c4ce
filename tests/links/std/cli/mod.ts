/**
 * A stand-in for `jsr:@std/cli` on machines that cannot reach JSR: the
 * functions that this workspace uses, over `npm:minimist`.
 */
export { type Args, parseArgs, type ParseOptions } from "./parse_args.ts";
