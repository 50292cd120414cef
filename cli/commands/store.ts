import { resolve } from 'node:path';
import { Command } from 'commander';
import { settings } from '../../server/settings.ts';
import type { OutputFormat } from '../output.ts';
import { addOutput } from './options.ts';

interface StoreFlags {
  dataDir?: string;
  output: OutputFormat;
}

/** atoll store verify|repair|backup|restore|stats */
export function storeCommand(): Command {
  const store = new Command('store')
    .description(
      'look after the embedded store; no server may have it open (atoll backup works on a running one)',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  atoll store verify --data-dir ./data\n  atoll store backup monday.backup --data-dir ./data\n  atoll store restore monday.backup --data-dir ./new',
    );
  leaf(store, 'verify', 'check every record, change nothing', 'verifyStore');
  leaf(store, 'repair', 'save what is readable of a damaged store; the damaged one is kept', 'repairStore');
  leaf(store, 'stats', 'how many objects there are of each resource, and their bytes', 'storeStats');
  withFile(store, 'backup', 'write everything to FILE, which must not exist', 'backupStore');
  withFile(store, 'restore', RESTORES, 'restoreStore');
  return store;
}

const RESTORES = 'make the store of a new data directory from the backup in FILE';

/** atoll restore FILE: the same as atoll store restore. */
export function restoreCommand(): Command {
  const parent = new Command();
  return withFile(
    parent,
    'restore',
    RESTORES,
    'restoreStore',
    'atoll restore monday.backup --data-dir ./new',
  );
}

function leaf(
  store: Command,
  name: string,
  what: string,
  run: 'verifyStore' | 'repairStore' | 'storeStats',
): void {
  const command = withFlags(store.command(name).description(what));
  exampleOf(command, `atoll store ${name} --data-dir ./data`).action(async (flags: StoreFlags) => {
    const commands = await import('../store.ts');
    await commands[run](dataDirOf(flags), flags.output);
  });
}

function withFile(
  store: Command,
  name: string,
  what: string,
  run: 'backupStore' | 'restoreStore',
  example = `atoll store ${name} monday.backup --data-dir ./${name === 'backup' ? 'data' : 'new'}`,
): Command {
  const command = withFlags(store.command(`${name} <FILE>`).description(what));
  return exampleOf(command, example).action(async (file: string, flags: StoreFlags) => {
    const commands = await import('../store.ts');
    await commands[run](dataDirOf(flags), file, flags.output);
  });
}

function exampleOf(command: Command, example: string): Command {
  return command.addHelpText('after', `\nExamples:\n  ${example}`);
}

function withFlags(command: Command): Command {
  const { help, variable, placeholder, default: shown } = settings.dataDir;
  return addOutput(command.option(`--data-dir <${placeholder}>`, `${help} [${variable}, default ${shown}]`));
}

function dataDirOf(flags: StoreFlags, env: NodeJS.ProcessEnv = process.env): string {
  return resolve(flags.dataDir ?? (env[settings.dataDir.variable] || settings.dataDir.default));
}
