import { type Command, Option } from 'commander';
import { type RawSettings, settings } from '../../server/settings.ts';
import { UsageError } from '../errors.ts';
import type { OutputFormat } from '../output.ts';

export interface Global {
  atollKubeconfig?: string;
  output: OutputFormat;
}

export function addOutput(command: Command): Command {
  return command.addOption(
    new Option('-o, --output <FORMAT>', 'how to print').choices(['text', 'json']).default('text'),
  );
}

export interface ServerFlags extends RawSettings {
  config?: string;
}

/** The flags that `start` and `demo` share, from the one table of settings. */
export function addServerFlags(command: Command, defaults: RawSettings = {}): Command {
  for (const [name, setting] of Object.entries(settings)) {
    const shown = defaults[name as keyof RawSettings] ?? setting.default;
    const help = `${setting.help} [${setting.variable}, default ${shown}]`;
    const flag = `--${setting.flag} <${setting.placeholder}>`;
    if (setting.repeatable)
      command.option(flag, help, (one, before?: string) => (before ? `${before},${one}` : one));
    else command.option(flag, help);
  }
  return command.option(
    '--config <FILE>',
    'a YAML file of the same settings; flags and variables win over it',
  );
}

/** A flag's number of seconds, 0 or more. Throws UsageError. */
export function secondsOf(flag: string, text: string): number {
  const seconds = Number(text.trim() || 'none');
  if (!Number.isFinite(seconds) || seconds < 0)
    throw new UsageError(`${flag} ${text}: expected a number of seconds`);
  return seconds;
}

/** A flag's number of things, one or more. Throws UsageError. */
export function countOf(flag: string, text: string): number {
  const count = Number(text.trim() || 'none');
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError(`${flag} ${text}: expected a number from 1 on`);
  return count;
}
