import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { alwaysAllow, alwaysDeny, chain } from '../../apiserver/authz/chain.ts';
import { webhookMode } from '../../apiserver/authz/webhook.ts';
import type { ApiServerOptions } from '../../apiserver/options.ts';
import type { AuthorizationMode } from '../../apiserver/plugins.ts';
import { transportFromKubeconfig } from '../../client/kubeconfig.ts';
import { readConfiguration } from '../../kube/authorization/configuration.ts';
import type { AuthorizationConfiguration, AuthorizerConfiguration } from '../../kube/authorization/types.ts';
import type { LoadOptions } from '../authentication/types.ts';
import { UsageError } from '../errors.ts';
import { followFile } from '../follow-file.ts';

const maxResponseBytes = 1024 * 1024;
/** Of one webhook: as many as may be at work. */
const maxSockets = 200;
/** What was asked before others took the place of who was asked is answered by then, all tries. */
const lastMs = 180_000;

type Mode = (rbac: AuthorizationMode) => AuthorizationMode;

interface Modes {
  modes: readonly Mode[];
  close(): void;
}

/** By the file that `authorization-config` names, as it is now and will be; undefined: RBAC alone. Throws UsageError. */
export async function loadAuthorization(
  options: LoadOptions,
  readEveryMs?: number,
): Promise<ApiServerOptions['authorizers']> {
  const file = options.settings.authorizationConfig;
  if (file === undefined) return undefined;
  const { files, signal, logger } = options;
  const { text, first, opened } = await started(file, options);
  let now = opened;
  signal.addEventListener('abort', () => now.close(), { once: true });
  let taken: (() => void) | undefined;
  void followFile({
    file,
    text,
    files,
    signal,
    logger,
    ...(readEveryMs !== undefined && { everyMs: readEveryMs }),
    async changed(next) {
      const former = now;
      now = await open(readConfiguration(next, fileProblem, first), options, (name) => files.readAnew(name));
      taken?.();
      void setTimeout(lastMs, undefined, { ref: false, signal }).then(former.close, former.close);
    },
  });
  return (rbac) => {
    const made = () => chain(now.modes.map((mode) => mode(rbac)));
    let current = made();
    taken = () => {
      current = made();
    };
    return {
      authorize: (asked) => current.authorize(asked),
      rulesFor: (...asked) => current.rulesFor(...asked),
    };
  };
}

async function started(
  file: string,
  options: LoadOptions,
): Promise<{ text: string; first: AuthorizationConfiguration; opened: Modes }> {
  const { files } = options;
  try {
    const text = await files.read(file);
    const untaken = (name: string) => (files.has(name) ? undefined : fileProblem(name));
    const first = readConfiguration(text, untaken);
    return { text, first, opened: await open(first, options, (name) => files.read(name)) };
  } catch (error) {
    throw new UsageError(`--authorization-config ${file}: ${(error as Error).message}`);
  }
}

const ownModes: Readonly<Record<Exclude<AuthorizerConfiguration['type'], 'Webhook'>, Mode>> = {
  RBAC: (rbac) => rbac,
  AlwaysAllow: () => alwaysAllow,
  AlwaysDeny: () => alwaysDeny,
};

/** All or none. Throws where a kubeconfig leads nowhere. */
async function open(
  { authorizers }: AuthorizationConfiguration,
  { logger }: Pick<LoadOptions, 'logger'>,
  read: (file: string) => Promise<string>,
): Promise<Modes> {
  const closing: (() => void)[] = [];
  const close = () => {
    for (const end of closing) end();
  };
  const opened = async (one: AuthorizerConfiguration): Promise<Mode> => {
    if (one.type !== 'Webhook') return ownModes[one.type];
    const { name, webhook: configuration } = one;
    const { kubeConfigFile, timeoutMs } = configuration;
    const reach = { timeoutMs, maxResponseBytes, maxSockets, trusted: true };
    const transport = await transportFromKubeconfig(await read(kubeConfigFile), reach);
    closing.push(() => transport.close());
    const failed = (err: unknown) =>
      logger.error({ authorizer: name, err }, 'the webhook that decides failed');
    const mode = webhookMode({ name, configuration, transport, failed });
    return () => mode;
  };
  try {
    const modes: Mode[] = [];
    for (const one of authorizers) modes.push(await opened(one));
    return { modes, close };
  } catch (error) {
    close();
    throw error;
  }
}

function fileProblem(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? undefined : 'must be a regular file';
  } catch (error) {
    const [, why = ''] = /^\w+: ([^,]*)/.exec((error as Error).message) ?? [];
    return `error loading file: stat ${file}: ${why}`;
  }
}
