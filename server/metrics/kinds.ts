import type { RequestInfo } from '../../apiserver/request.ts';
import { ownResources } from '../../cluster/resources.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import type { Counted, Place, Series } from './series.ts';

/** Of what is not one of the built-in kinds or paths: its names are whatever somebody sent, or a tenant's. */
export const other = 'other';

/** By the first word of a path: what it is called. The first two are kube-apiserver's names. */
const paths: Readonly<Record<string, string>> = {
  api: 'api',
  apis: 'apis',
  openapi: 'openapi',
  healthz: '/healthz',
  livez: '/livez',
  readyz: '/readyz',
  metrics: '/metrics',
  version: '/version',
  openid: '/openid/v1/jwks',
  '.well-known': '/.well-known/openid-configuration',
  syncers: '/syncers',
  backup: '/backup',
  'client-certificates': '/client-certificates',
  'service-account-keys': '/service-account-keys',
};

class Kind implements Counted {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly #places = new Map<string, Place>();

  /** @param subresources those that it has; one of them is '' where it is itself something. */
  constructor(group: string, version: string, resource: string, subresources: readonly string[]) {
    this.group = group;
    this.version = version;
    this.resource = resource;
    for (const subresource of [...subresources, other])
      this.#places.set(subresource, { subresource, list: [] });
  }

  seriesOf(subresource: string): Place {
    const place = this.#places.get(subresource) ?? this.#places.get(other);
    if (place === undefined) throw new Error('a kind has a place for others');
    return place;
  }

  *series(): Iterable<Series> {
    for (const { list } of this.#places.values()) for (const series of list) if (series) yield series;
  }
}

/** A path has a subresource for its name, as kube-apiserver calls it, and no other. */
class PathKind extends Kind {
  readonly #path: string;

  constructor(path: string) {
    super('', '', '', [path]);
    this.#path = path;
  }

  override seriesOf(): Place {
    return super.seriesOf(this.#path);
  }
}

/** What requests are about, of a bounded number: built-in resources and known paths; all else is one. */
export class Kinds {
  readonly #resources = new Map<string, Map<string, Map<string, Kind>>>();
  readonly #paths = new Map(Object.entries(paths).map(([word, path]) => [word, new PathKind(path)]));
  readonly #root = new PathKind('/');
  readonly #other = new Kind(other, other, other, ['']);
  readonly #otherPath = new PathKind(other);
  /** Refused before it was known what they ask for. */
  readonly #unknown = new Kind('', '', '', ['']);

  constructor() {
    for (const info of [...builtinResources, ...ownResources.map((resource) => resource.info)]) {
      const names = info.subresources.map(({ name }) => name);
      const status = info.subresources.length === 0 ? ['status'] : [];
      const kind = new Kind(info.group, info.version, info.resource, ['', ...names, ...status]);
      const versions = ensure(this.#resources, info.group, () => new Map<string, Map<string, Kind>>());
      ensure(versions, info.version, () => new Map<string, Kind>()).set(info.resource, kind);
    }
  }

  of(info: RequestInfo | undefined): Counted {
    if (info === undefined) return this.#unknown;
    if (!info.isResource) return this.#pathOf(info.path);
    return this.#resources.get(info.group)?.get(info.version)?.get(info.resource) ?? this.#other;
  }

  *series(): Iterable<Series> {
    for (const versions of this.#resources.values())
      for (const resources of versions.values()) for (const kind of resources.values()) yield* kind.series();
    for (const kind of this.#paths.values()) yield* kind.series();
    for (const kind of [this.#root, this.#other, this.#otherPath, this.#unknown]) yield* kind.series();
  }

  #pathOf(path: string): Counted {
    if (path === '/') return this.#root;
    const end = path.indexOf('/', 1);
    return this.#paths.get(path.slice(1, end < 0 ? undefined : end)) ?? this.#otherPath;
  }
}

function ensure<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const there = map.get(key);
  if (there !== undefined) return there;
  const made = make();
  map.set(key, made);
  return made;
}
