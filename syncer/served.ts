import type { Client } from '../client/client.ts';
import { decode, failIfNotOk } from '../client/exchange.ts';
import { moreServed } from '../cluster/names.ts';
import { builtinResources } from '../kube/schema/builtin.ts';
import { at, listAt, textAt } from '../kube/untyped.ts';
import { within } from '../kube/within.ts';

const accept =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
const builtin = new Set(builtinResources.map(({ group }) => group));
/** Together they have to fit into a status. */
const most = 500;
const mostBytes = 24 << 10;

/** What one cluster serves. It is a long answer, which a cluster does not give again while it is the same. */
export class Served {
  readonly #client: Client;
  #known: { etag: string; names: string[] } | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * The namespaced custom resources that it serves, as `<resource>.<group>/<version>`, in the end moreServed where there are
   * too many. Undefined where it does not say: that is no word of what it serves.
   */
  async ask({
    signal: ending,
    timeoutMs,
  }: {
    signal: AbortSignal;
    timeoutMs: number;
  }): Promise<string[] | undefined> {
    try {
      return await within(timeoutMs, ending, (signal) => this.#ask(signal));
    } catch {
      ending.throwIfAborted();
      return undefined;
    }
  }

  async #ask(signal: AbortSignal): Promise<string[]> {
    const known = this.#known;
    const headers = { accept, ...(known && { 'if-none-match': known.etag }) };
    const response = await this.#client.raw({ method: 'GET', path: '/apis', headers, signal });
    if (known && response.status === 304) return known.names;
    await failIfNotOk(response);
    const found = await decode(response);
    const isWhole = Array.isArray(at(found, 'items'));
    const names = isWhole ? named(found) : await namedOneByOne(this.#client, found, signal);
    const told = bounded([...new Set(names)].sort());
    const { etag } = response.headers;
    this.#known = isWhole && typeof etag === 'string' ? { etag, names: told } : undefined;
    return told;
  }
}

/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery */
function named(found: unknown): string[] {
  return listAt(found, 'items').flatMap((group) => {
    const name = textAt(group, 'metadata', 'name') ?? '';
    if (builtin.has(name)) return [];
    return listAt(group, 'versions').flatMap((version) =>
      listAt(version, 'resources').flatMap((resource) =>
        at(resource, 'scope') === 'Namespaced'
          ? [`${textAt(resource, 'resource')}.${name}/${textAt(version, 'version')}`]
          : [],
      ),
    );
  });
}

/** As clusters before Kubernetes 1.26 tell it. */
async function namedOneByOne(client: Client, found: unknown, signal: AbortSignal): Promise<string[]> {
  // Somebody else answers in its place, as a proxy does.
  if (!Array.isArray(at(found, 'groups'))) throw new Error('the answer is no list of groups');
  const names: string[] = [];
  for (const group of listAt(found, 'groups')) {
    const name = textAt(group, 'name') ?? '';
    if (builtin.has(name)) continue;
    for (const version of listAt(group, 'versions').map((one) => textAt(one, 'version') ?? '')) {
      const list = await client.json(`/apis/${name}/${version}`, { signal });
      for (const resource of listAt(list, 'resources')) {
        const plural = textAt(resource, 'name') ?? '';
        if (at(resource, 'namespaced') === true && !plural.includes('/'))
          names.push(`${plural}.${name}/${version}`);
      }
    }
  }
  return names;
}

function bounded(names: readonly string[]): string[] {
  let bytes = 0;
  const told = names.slice(0, most).filter((name) => {
    bytes += name.length + 3;
    return bytes <= mostBytes;
  });
  return told.length < names.length ? [...told, moreServed] : told;
}
