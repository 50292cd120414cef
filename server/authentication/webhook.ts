import { mostAsked, webhookAuthenticator } from '../../apiserver/authn/webhook.ts';
import type { Authenticator } from '../../apiserver/plugins.ts';
import { transportFromKubeconfig } from '../../client/kubeconfig.ts';
import { UsageError } from '../errors.ts';
import type { LoadOptions } from './types.ts';

const timeoutMs = 10_000;
const maxResponseBytes = 1024 * 1024;
/** None of what is asked waits for a socket. */
const maxSockets = 2 * mostAsked;

/** The webhook that the kubeconfig leads to. Throws UsageError. */
export async function askedWebhook(
  file: string,
  { settings, files, signal, logger }: LoadOptions,
): Promise<Authenticator> {
  const reach = { timeoutMs, maxResponseBytes, maxSockets, trusted: true };
  const transport = await files
    .read(file)
    .then((text) => transportFromKubeconfig(text, reach))
    .catch((error: Error) => {
      throw new UsageError(`--authentication-token-webhook-config-file ${file}: ${error.message}`);
    });
  signal.addEventListener('abort', () => transport.close(), { once: true });
  return webhookAuthenticator({
    transport,
    issuer: settings.serviceAccountIssuer,
    failed: (err) => logger.error({ err }, 'the webhook for tokens does not answer'),
  });
}
