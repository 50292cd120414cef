import { decodeYaml } from '../kube/yaml.ts';
import type { Credentials } from './http.ts';

export interface PlainKubeconfig {
  readonly server: string;
  readonly credentials: Credentials;
}

const clusterKeys = ['server', 'certificate-authority-data', 'insecure-skip-tls-verify', 'tls-server-name'];
const userKeys = ['client-certificate-data', 'client-key-data', 'token'];

/**
 * What a kubeconfig says that holds everything itself, as text: the kind that Atoll and most clusters hand out. Undefined
 * for any other (commands, files, a proxy, a password, a context that is not there, a name twice, a word not known here):
 * for those there is client-node, which loads 800 modules and 30 MiB before it reads the first line.
 */
export function plainKubeconfig(text: string, context: string | undefined): PlainKubeconfig | undefined {
  const { cluster, user } = partsOf(text, context);
  if (!cluster || !user || !holds(cluster, clusterKeys) || !holds(user, userKeys)) return undefined;
  const { server, token } = { server: cluster['server'], token: user['token'] };
  if (typeof server !== 'string' || server === '') return undefined;
  const name = cluster['tls-server-name'];
  return {
    server: alone(server),
    credentials: {
      ca: bytes(cluster['certificate-authority-data']),
      cert: bytes(user['client-certificate-data']),
      key: bytes(user['client-key-data']),
      passphrase: undefined,
      tlsServerName: typeof name === 'string' ? alone(name) : undefined,
      insecure: cluster['insecure-skip-tls-verify'] === true,
      authorization: typeof token === 'string' && token !== '' ? alone(`Bearer ${token}`) : undefined,
    },
  };
}

/** What whoever reads the kubeconfig is let in by, as it is written there, beside whatever else it has. */
export function shownBy(text: string): { certificate: string | undefined; token: string | undefined } {
  const { user } = partsOf(text, undefined);
  const token = user?.['token'];
  return {
    certificate: bytes(user?.['client-certificate-data'])?.toString(),
    token: typeof token === 'string' ? token : undefined,
  };
}

type Fields = Record<string, unknown>;

function partsOf(text: string, context: string | undefined) {
  const config = decoded(text);
  const current = named(config, 'contexts', 'context', context ?? config?.['current-context']);
  return {
    cluster: named(config, 'clusters', 'cluster', current?.['cluster']),
    user: named(config, 'users', 'user', current?.['user']),
  };
}

function decoded(text: string): Fields | undefined {
  try {
    return fields(decodeYaml(text).value);
  } catch {
    return undefined;
  }
}

function fields(value: unknown): Fields | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The one element of the list that has the name. */
function named(config: Fields | undefined, list: string, what: string, name: unknown): Fields | undefined {
  const elements = config?.[list];
  if (!Array.isArray(elements) || typeof name !== 'string') return undefined;
  const [found, another] = elements.map(fields).filter((element) => element?.['name'] === name);
  return another === undefined ? fields(found?.[what]) : undefined;
}

/** Nothing but texts and truths under the keys. */
function holds(object: Fields, keys: readonly string[]): boolean {
  return Object.entries(object).every(
    ([key, value]) => keys.includes(key) && (typeof value === 'string' || typeof value === 'boolean'),
  );
}

/** Of its own: what is kept for as long as a cluster is known would keep the whole text, of which it is a piece. */
function alone(text: string): string {
  return Buffer.from(text).toString();
}

/** Likewise: what is short shares its memory with whatever was made beside it. */
function bytes(base64: unknown): Buffer | undefined {
  if (typeof base64 !== 'string' || base64 === '') return undefined;
  const found = Buffer.from(base64, 'base64');
  const own = Buffer.allocUnsafeSlow(found.length);
  found.copy(own);
  return own;
}
