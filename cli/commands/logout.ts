import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import type { Provider } from '../login/provider.ts';
import { print } from '../output.ts';
import { providerIn } from './login.ts';

interface LogoutFlags {
  kubeconfig?: string;
  context?: string;
}

/** atoll logout: the other end of atoll login. */
export function logoutCommand(): Command {
  return new Command('logout')
    .description('remove what a login keeps here, and have the issuer take back what could be refreshed')
    .option('--kubeconfig <FILE>', 'that the login wrote; default as for kubectl: KUBECONFIG, ~/.kube/config')
    .option('--context <NAME>', 'whose user is signed out; default the current one')
    .addHelpText(
      'after',
      `
The context stays: kubectl signs in anew where somebody sits there. The last token counts until it ends, since nobody asks the
issuer about it.

Examples:
  atoll logout
  atoll logout --context root:team-a`,
    )
    .action(async (flags: LogoutFlags) => {
      const provider = await providerOfContext(flags);
      const [{ endSession }, { seconds }] = await Promise.all([
        import('../login/logout.ts'),
        import('../telling.ts'),
      ]);
      const ended = await endSession(provider);
      if (ended === undefined) return print(`nobody was signed in at ${provider.issuer}`);
      const { expires } = ended.session;
      const parts = [`signed out of ${provider.issuer}`];
      if (ended.refreshToken === 'not revocable')
        parts.push('which takes no refresh token back: it counts there until it ends');
      if (expires * 1000 > Date.now())
        parts.push(`the last token counts until ${seconds(new Date(expires * 1000).toISOString())}`);
      print(parts.join('; '));
    });
}

/** Where the user of a context signed in. Throws UsageError. */
async function providerOfContext(flags: LogoutFlags): Promise<Provider> {
  const [{ kubeconfigFile }, { loginArguments }, { YamlError }] = await Promise.all([
    import('../login/write.ts'),
    import('../login/kubeconfig.ts'),
    import('../../kube/yaml.ts'),
  ]);
  const file = kubeconfigFile(flags.kubeconfig, process.env);
  if (!existsSync(file)) throw new UsageError(`${file} is not there: name the kubeconfig by --kubeconfig`);
  try {
    return providerIn(loginArguments(await readFile(file, 'utf8'), flags.context));
  } catch (error) {
    if (error instanceof YamlError) throw new UsageError(`${file} cannot be read: ${error.message}`);
    if (error instanceof UsageError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}
