import { COMMON_OPTIONS, type OptionSpec } from "./args.ts";
import type { Command } from "./command.ts";
import {
  aliasesOf,
  type ConfigSchema,
  describeProperty,
} from "./config/schema.ts";

const PROGRAM = "bellman";

function columns(rows: readonly [string, string][]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
    .join("\n");
}

function optionRow(spec: OptionSpec): [string, string] {
  const value = spec.value === undefined ? "" : ` ${spec.value}`;
  return [`--${spec.name}${value}`, spec.help];
}

/** The help of the whole program: its commands, a line each. */
export function programHelp(commands: readonly Command[]): string {
  const rows = commands.map((it): [string, string] => [it.name, it.summary]);
  return `Reinforcement learning from the command line.

Usage: ${PROGRAM} COMMAND [OPTIONS]

Commands:
${columns(rows)}

'${PROGRAM} COMMAND --help' lists a command's options.
`;
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  const rows = [...command.options, ...COMMON_OPTIONS].map(optionRow);
  const details = command.details === undefined ? "" : `\n${command.details()}`;
  return `${command.summary}

Usage: ${PROGRAM} ${command.name} ${command.usage}

Options:
${columns(rows)}
${details}`;
}

/** Every key of a configuration: what it accepts, its default, its meaning. */
export function configHelp(title: string, schema: ConfigSchema): string {
  const entries = Object.entries(schema.properties).map(([key, property]) => {
    const aliases = aliasesOf(property);
    const also = aliases.length === 0 ? "" : ` (also ${aliases.join(", ")})`;
    const fallback = JSON.stringify(property.default);
    return `  ${key}${also}
      ${property.description}
      ${describeProperty(property)}; default ${fallback}`;
  });
  return `${title}\n${entries.join("\n")}\n`;
}
