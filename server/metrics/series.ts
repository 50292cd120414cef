import { STATUS_CODES } from 'node:http';
import type { RequestInfo } from '../../apiserver/request.ts';
import type { ApiRequest } from '../../kube/http.ts';
import type { Distribution } from '../../storage/measures.ts';
import { borrowed } from './definitions.ts';
import { distributionOf } from './family.ts';

/** Everything that is counted of requests whose labels are the same. */
export interface Series {
  readonly labels: {
    readonly verb: string;
    readonly dryRun: string;
    /** Group, version, resource, subresource, scope, component. */
    readonly resource: readonly string[];
  };
  readonly codes: Codes;
  readonly durations: Distribution;
  /** Of what reads. */
  readonly sizes: Distribution | undefined;
  readonly terminations: Codes;
  /** At present; undefined where nothing ever lasted. */
  lasting: number | undefined;
}

/** What requests are about. */
export interface Counted {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  seriesOf(subresource: string): Place;
}

/** All series of one subresource. */
export interface Place {
  readonly subresource: string;
  readonly list: Series[];
}

const component = 'apiserver';
const verbs = [
  'GET',
  'LIST',
  'WATCH',
  'POST',
  'PUT',
  'PATCH',
  'APPLY',
  'DELETE',
  'CONNECT',
  'other',
] as const;
type Verb = (typeof verbs)[number];
const at = Object.fromEntries(verbs.map((verb, i) => [verb, i])) as Record<Verb, number>;
const dryRuns = ['', 'All', 'invalid'] as const;
const scopes = ['', 'cluster', 'namespace', 'resource'] as const;
const connected = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);

/** The series of a request of this kind; made when the first one comes. */
export function seriesFor(kind: Counted, request: ApiRequest, info: RequestInfo | undefined): Series {
  const scope = info === undefined ? 0 : scopeOf(info);
  const verb = at[verbOf(request, info)];
  const dry = info === undefined ? 0 : dryRunOf(request, info);
  const all = kind.seriesOf(info?.subresource ?? '');
  const place = (verb * scopes.length + scope) * dryRuns.length + dry;
  const known = all.list[place];
  if (known !== undefined) return known;
  const fresh = made(kind, all.subresource, verbs[verb] ?? 'other', scopes[scope], dryRuns[dry]);
  all.list[place] = fresh;
  return fresh;
}

function made(kind: Counted, subresource: string, verb: Verb, scope = '', dryRun = ''): Series {
  const { group, version, resource } = kind;
  return {
    labels: { verb, dryRun, resource: [group, version, resource, subresource, scope, component] },
    codes: new Codes(),
    durations: distributionOf(borrowed.durations),
    sizes: verb === 'GET' || verb === 'LIST' ? distributionOf(borrowed.sizes) : undefined,
    terminations: new Codes(),
    lasting: undefined,
  };
}

/** As kube-apiserver reports it: by the method, but for what is more than that. */
export function verbOf({ method, headers }: ApiRequest, info: RequestInfo | undefined): Verb {
  if (info?.isResource && connected.has(info.subresource)) return 'CONNECT';
  if (info?.verb === 'watch') return 'WATCH';
  switch (method) {
    case 'GET':
    case 'HEAD':
      return info?.verb === 'list' ? 'LIST' : 'GET';
    case 'POST':
    case 'PUT':
    case 'DELETE':
      return method;
    case 'PATCH':
      return headers['content-type']?.startsWith('application/apply-patch+') ? 'APPLY' : 'PATCH';
    default:
      return 'other';
  }
}

function scopeOf({ name, verb, namespace, isResource }: RequestInfo): number {
  if (!isResource) return 0;
  if (name !== '' || verb === 'create') return 3;
  return namespace === '' ? 1 : 2;
}

function dryRunOf({ url }: ApiRequest, { query }: RequestInfo): number {
  if (!url.includes('dryRun')) return 0;
  const asked = query.getAll('dryRun');
  if (asked.length === 0) return 0;
  return asked.every((one) => one === 'All') ? 1 : 2;
}

/** How often each status code came; what is no code of HTTP counts as one. */
export class Codes {
  readonly #counts = new Map<number, number>();

  add(code: number): void {
    const known = STATUS_CODES[code] === undefined ? 0 : code;
    this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1);
  }

  get any(): boolean {
    return this.#counts.size > 0;
  }

  figures(labels: readonly string[]): (readonly [string[], number])[] {
    return Array.from(this.#counts, ([code, count]) => [
      [...labels, code === 0 ? 'other' : `${code}`],
      count,
    ]);
  }
}
