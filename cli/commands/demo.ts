import { Command } from 'commander';
import { resolveSettings } from '../../server/settings.ts';
import { demoDataDir } from '../connection.ts';
import { runDemo } from '../demo.ts';
import { addServerFlags, type ServerFlags } from './options.ts';

export function demoCommand(): Command {
  const defaults = { dataDir: demoDataDir(), logLevel: 'error' };
  return addServerFlags(new Command('demo'), defaults)
    .description('two simulated clusters, a small app, and a server that stays up until Ctrl-C')
    .addHelpText('after', '\nExamples:\n  atoll demo\n  atoll demo --listen 127.0.0.1:7443')
    .action((flags: ServerFlags) => runDemo(resolveSettings(flags, flags.config, process.env, defaults)));
}
