import { at, isRecord, textAt } from '../../kube/untyped.ts';
import { UsageError } from '../errors.ts';
import type { Session } from './session.ts';

export const credentialVersion = 'client.authentication.k8s.io/v1';

/**
 * Whether kubectl says that somebody sits there; undefined where nobody says it.
 * @param info what stands in KUBERNETES_EXEC_INFO. Throws UsageError for what this program was not written for.
 */
export function isInteractive(info: string | undefined): boolean | undefined {
  if (!info) return undefined;
  let asked: unknown;
  try {
    asked = JSON.parse(info);
  } catch {
    asked = undefined;
  }
  const version = textAt(asked, 'apiVersion');
  if (!isRecord(asked) || version !== credentialVersion)
    throw new UsageError(
      `KUBERNETES_EXEC_INFO is of ${JSON.stringify(version ?? 'nothing')}, and not of ${credentialVersion}: make the kubeconfig anew by atoll login`,
    );
  return at(asked, 'spec', 'interactive') === true;
}

/** https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ */
export function execCredential({ idToken, expires }: Session): string {
  return JSON.stringify({
    apiVersion: credentialVersion,
    kind: 'ExecCredential',
    status: {
      expirationTimestamp: new Date(expires * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
      token: idToken,
    },
  });
}
