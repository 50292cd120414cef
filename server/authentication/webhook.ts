import { webhookAuthenticator } from '../../apiserver/authn/webhook.ts';
import type { Authenticator } from '../../apiserver/plugins.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import { UsageError } from '../errors.ts';
import type { LoadOptions } from './types.ts';

const timeoutMs = 10_000;
const maxResponseBytes = 1024 * 1024;

/** The webhook that the kubeconfig leads to. Throws UsageError. */
export async function askedWebhook(file: string, { signal, logger }: LoadOptions): Promise<Authenticator> {
  const transport = await transportFromKubeconfigFile(file, { timeoutMs, maxResponseBytes }).catch(
    (error: Error) => {
      throw new UsageError(`--authentication-token-webhook-config-file ${file}: ${error.message}`);
    },
  );
  signal.addEventListener('abort', () => transport.close(), { once: true });
  return webhookAuthenticator({
    transport,
    failed: (err) => logger.error({ err }, 'the webhook for tokens does not answer'),
  });
}
