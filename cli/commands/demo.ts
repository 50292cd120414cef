import { Command } from 'commander';
import { resolveSettings } from '../../server/settings.ts';
import { demoDataDir } from '../connection.ts';
import { addServerFlags, countOf, type ServerFlags } from './options.ts';

interface DemoFlags extends ServerFlags {
  clusters: string;
  nodes: string;
}

export function demoCommand(): Command {
  const defaults = { dataDir: demoDataDir(), logLevel: 'error' };
  return addServerFlags(new Command('demo'), defaults)
    .option('--clusters <N>', 'how many simulated clusters join; the app is placed on the first two', '2')
    .option('--nodes <N>', 'how many nodes each of them has, with room for 110 pods', '3')
    .description('simulated clusters, a small app, and a server that stays up until Ctrl-C')
    .addHelpText(
      'after',
      '\nExamples:\n  atoll demo\n  atoll demo --listen 127.0.0.1:7443\n  atoll demo --clusters 5 --nodes 20',
    )
    .action(async (flags: DemoFlags) => {
      const { clusters, nodes, ...settings } = flags;
      const size = { clusters: countOf('--clusters', clusters), nodes: countOf('--nodes', nodes) };
      const { runDemo } = await import('../demo.ts');
      await runDemo(resolveSettings(settings, flags.config, process.env, defaults), size);
    });
}
