import { Command, CommanderError, Option } from 'commander';
import { isLogicalClusterName } from '../../cluster/names.ts';
import { UsageError } from '../errors.ts';
import { type Provider, type ProviderFlags, providerOf } from '../login/provider.ts';
import { print } from '../output.ts';

interface LoginFlags extends ProviderFlags {
  logicalCluster?: string;
  oidcClientSecret?: string;
  certificateAuthority?: string;
  kubeconfig?: string;
  context?: string;
}

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** atoll login, and what kubectl runs afterwards: atoll login token. */
export function loginCommand(): Command {
  const login = addProvider(new Command('login'))
    .description('sign in at an OpenID Connect issuer that the server trusts, for kubectl')
    .argument(
      '[SERVER]',
      'such as https://atoll.example.com:6443; without it, what is in the kubeconfig stays',
    )
    .option('--logical-cluster <PATH>', 'such as root:team-a; default that of SERVER, else root')
    .option('--certificate-authority <FILE>', 'by which SERVER is known; default what this machine trusts')
    .option('--kubeconfig <FILE>', 'to add a context to; default as for kubectl: KUBECONFIG, ~/.kube/config')
    .option('--context <NAME>', 'what it is called; default the logical cluster')
    .addOption(
      new Option('--oidc-client-secret <SECRET>', 'kept with the tokens, not in the kubeconfig').env(
        'ATOLL_OIDC_CLIENT_SECRET',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  atoll login https://atoll.example.com:6443 --logical-cluster root:team-a \\
    --oidc-issuer-url https://login.example.com --oidc-client-id atoll
  atoll login https://atoll.example.com:6443 --certificate-authority ca.pem \\
    --oidc-issuer-url https://login.example.com --oidc-client-id atoll --oidc-extra-scope groups --device
  atoll login --oidc-issuer-url https://login.example.com --oidc-client-id atoll   # again`,
    )
    .action(runLogin);
  login.addCommand(tokenCommand());
  return login;
}

function addProvider(command: Command): Command {
  return command
    .requiredOption('--oidc-issuer-url <URL>', 'where to sign in, as --authentication-config names it')
    .requiredOption('--oidc-client-id <ID>', 'what kubectl is called there: the audience of its tokens')
    .option('--oidc-extra-scope <SCOPE>', 'such as groups; may be given again', more)
    .option('--oidc-ca-file <FILE>', 'by which the issuer is known; default what this machine trusts')
    .option(
      '--oidc-redirect-url <URL>',
      'where the browser comes back to, such as http://localhost:8000/callback; default any free port of 127.0.0.1',
    )
    .option('--device', 'sign in with a browser elsewhere: a code is printed')
    .option('--skip-open-browser', 'only print where to sign in')
    .option('--token-cache-dir <DIR>', 'where tokens are kept; default ~/.kube/cache/atoll-login');
}

/** Of what a login wrote into a kubeconfig. Throws UsageError. */
export function providerIn(args: readonly string[]): Provider {
  const command = addProvider(new Command('token'))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  try {
    return providerOf(command.parse(args, { from: 'user' }).opts<ProviderFlags>());
  } catch (error) {
    if (error instanceof CommanderError)
      throw new UsageError(`what it says of atoll login token cannot be read: ${error.message}`);
    throw error;
  }
}

function more(scope: string, before: string[] = []): string[] {
  return [...before, scope];
}

async function runLogin(server: string | undefined, flags: LoginFlags): Promise<void> {
  const provider = providerOf(flags);
  const { newSession } = await import('../login/token.ts');
  const signIn = async () => {
    const { expires } = await newSession(provider, flags.oidcClientSecret, say);
    const { seconds } = await import('../telling.ts');
    return `signed in at ${provider.issuer} until ${seconds(new Date(expires * 1000).toISOString())}`;
  };
  if (server === undefined) {
    refuseDestination(flags, 'goes with a SERVER, such as https://atoll.example.com:6443');
    return print(await signIn());
  }
  const write = await import('../login/write.ts');
  const entries = await write.entriesOf(await destination(server, flags), provider);
  const file = write.kubeconfigFile(flags.kubeconfig, process.env);
  await write.loginKubeconfig(file, entries);
  const until = await signIn();
  await write.writeKubeconfig(file, await write.loginKubeconfig(file, entries));
  print(`${file}: context ${entries.context}, ${until}`);
}

/** Throws UsageError. */
async function destination(server: string, flags: LoginFlags) {
  if (!URL.canParse(server) || new URL(server).protocol !== 'https:')
    throw new UsageError(`"${server}" is no server's URL, such as https://atoll.example.com:6443`);
  const { clusterOfUrl } = await import('../../client/url.ts');
  const logicalCluster = flags.logicalCluster ?? clusterOfUrl(server);
  if (!isLogicalClusterName(logicalCluster))
    throw new UsageError(`"${logicalCluster}" is not a logical cluster's name, such as root:team-a`);
  return { server, logicalCluster, caFile: flags.certificateAuthority, context: flags.context };
}

/** Throws UsageError. */
function refuseDestination(flags: LoginFlags, why: string): void {
  for (const [flag, value] of [
    ['--logical-cluster', flags.logicalCluster],
    ['--certificate-authority', flags.certificateAuthority],
    ['--kubeconfig', flags.kubeconfig],
    ['--context', flags.context],
  ])
    if (value !== undefined) throw new UsageError(`${flag} ${why}`);
}

/** Its flags are those of `login`, which stands above it. */
function tokenCommand(): Command {
  return new Command('token')
    .description('print the token of a login as an ExecCredential: kubectl runs it')
    .addHelpText(
      'after',
      '\nExamples:\n  atoll login token --oidc-issuer-url https://login.example.com --oidc-client-id atoll',
    )
    .action(async (_flags: object, command: Command) => {
      const flags = command.optsWithGlobals<LoginFlags>();
      refuseDestination(flags, 'is of `atoll login`, not of `atoll login token`');
      const provider = providerOf(flags);
      const [{ execCredential, isInteractive }, { currentSession }] = await Promise.all([
        import('../login/credential.ts'),
        import('../login/token.ts'),
      ]);
      const asked = isInteractive(process.env['KUBERNETES_EXEC_INFO']);
      const interactive = asked ?? (process.stdin.isTTY && process.stderr.isTTY);
      print(execCredential(await currentSession(provider, interactive ? say : undefined)));
    });
}
