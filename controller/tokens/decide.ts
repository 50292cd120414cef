import type { KubeObject } from '../../kube/object.ts';
import { mapAt, textAt } from '../../kube/untyped.ts';

/** https://kubernetes.io/docs/concepts/configuration/secret/#serviceaccount-token-secrets */
export const tokenSecretType = 'kubernetes.io/service-account-token';
export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';

export interface Secret extends KubeObject {
  type?: string;
  /** Base64. */
  data?: Readonly<Record<string, string>>;
}

export interface Account extends KubeObject {
  secrets?: readonly { name?: string }[];
}

type Step = { do: 'nothing' } | { do: 'delete' } | { do: 'fill'; lacks: { token: boolean }; wanted: Secret };

/**
 * What a Secret of that type lacks: the token, the authority and the namespace; or its account, which it does not outlive.
 * `account`: of the name that it says. What is wanted has no token where it lacks that.
 */
export function decideSecret(
  secret: Secret,
  account: KubeObject | undefined,
  rootCa: string | undefined,
): Step {
  if (!isTokenSecret(secret) || accountOf(secret) === '') return { do: 'nothing' };
  if (secret.metadata.deletionTimestamp !== undefined) return { do: 'nothing' };
  if (account === undefined || !isOf(secret, account)) return { do: 'delete' };
  const has = mapAt(secret, 'data') ?? {};
  const authority = rootCa === undefined ? undefined : base64(rootCa);
  const data = {
    ...has,
    ...(authority !== undefined && { 'ca.crt': authority }),
    namespace: has['namespace'] || base64(secret.metadata.namespace ?? ''),
    token: has['token'] || '',
  };
  const isFull = data.token !== '' && data['ca.crt'] === has['ca.crt'] && data.namespace === has['namespace'];
  if (isFull) return { do: 'nothing' };
  const { name = '', uid = '' } = account.metadata;
  const annotations = {
    ...secret.metadata.annotations,
    [accountNameAnnotation]: name,
    [accountUidAnnotation]: uid,
  };
  const metadata = { ...secret.metadata, annotations };
  return { do: 'fill', lacks: { token: data.token === '' }, wanted: { ...secret, metadata, data } };
}

export function withToken(secret: Secret, token: string): Secret {
  return { ...secret, data: { ...secret.data, token: base64(token) } };
}

export function isTokenSecret(secret: KubeObject): boolean {
  return textAt(secret, 'type') === tokenSecretType;
}

/** Empty: it says none. */
export function accountOf({ metadata: { annotations } }: KubeObject): string {
  return annotations?.[accountNameAnnotation] ?? '';
}

/** One that was made anew under the name is another account. */
function isOf({ metadata: { annotations } }: KubeObject, account: KubeObject): boolean {
  const uid = annotations?.[accountUidAnnotation];
  return !uid || uid === account.metadata.uid;
}

/** Undefined: it does not name the Secret. */
export function withoutSecret(account: Account, name: string): Account | undefined {
  const { secrets = [] } = account;
  const others = secrets.filter((secret) => secret.name !== name);
  return others.length === secrets.length ? undefined : { ...account, secrets: others };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
