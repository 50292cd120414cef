import { Command } from 'commander';
import { ownKubeconfig } from '../connection.ts';
import { addOutput, type Global } from './options.ts';

/** atoll token-keys: list, rotate, drop. */
export function tokenKeysCommand(): Command {
  const keys = new Command('token-keys').description("the keys that sign ServiceAccounts' tokens");
  const ask = async (command: Command, method: string, query = '') => {
    const { atollKubeconfig, output } = command.optsWithGlobals<Global>();
    const { tokenKeys } = await import('../token-keys.ts');
    await tokenKeys(ownKubeconfig(atollKubeconfig), output, method, query);
  };
  addOutput(keys.command('list'))
    .description('which there are')
    .addHelpText('after', '\nExamples:\n  atoll token-keys list')
    .action((_flags: object, command: Command) => ask(command, 'GET'));
  addOutput(keys.command('rotate'))
    .description('make another, which signs in an hour, when all who verify tokens know it')
    .option('--now', 'it signs at once')
    .addHelpText('after', '\nExamples:\n  atoll token-keys rotate\n  atoll token-keys rotate --now')
    .action(({ now }: { now?: boolean }, command: Command) => ask(command, 'POST', now ? '?now=true' : ''));
  addOutput(keys.command('drop'))
    .description('forget one that signs no more: the tokens that it signed are refused')
    .argument('<KID>', 'as `list` names it')
    .addHelpText('after', '\nExamples:\n  atoll token-keys drop KID')
    .action((kid: string, _flags: object, command: Command) =>
      ask(command, 'DELETE', `?kid=${encodeURIComponent(kid)}`),
    );
  return keys;
}
