import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import type { RequestInfo } from '../request.ts';
import { quoted } from './quoted.ts';
import { namespaceOf, referenceAround, userJson } from './reference.ts';
import { sourceIps, userAgentOf } from './source.ts';

/** Fields of JSON that requests have in common which one client makes of one kind in one namespace. */
export interface Alike {
  /** From the verb on, to whom it is made for. */
  who: string;
  from: string;
  /** What it is about, but for its name: before that and after it. */
  before: string;
  after: string;
  /** `who`, `from` and `before`, of a request that is made for nobody else. */
  whole: string;
  /** The logical cluster, as an annotation. */
  cluster: string;
}

interface Known {
  asked: RequestInfo;
  user: UserInfo | undefined;
  agent: string | undefined;
  forwarded: string | undefined;
  real: string | undefined;
  alike: Alike;
  isFlat: boolean;
}

/**
 * Remembers what the last request of each connection said: most are followed by one that is like it. To put an event together
 * costs by the pieces, not by their length.
 */
export class LastAsked {
  readonly #last = new WeakMap<object, Known>();

  of(peer: { address?: string }, request: ApiRequest, info: RequestInfo, user: UserInfo | undefined): Alike {
    const known = this.#last.get(peer);
    if (known === undefined || !isLike(known, request, info, user)) {
      const alike = alikeOf(request, info, user, peer.address);
      const { agent, forwarded, real } = saidBy(request);
      this.#last.set(peer, { asked: info, user, agent, forwarded, real, alike, isFlat: false });
      return alike;
    }
    if (!known.isFlat) {
      const { alike } = known;
      const [after, whole, cluster] = [flat(alike.after), flat(alike.whole), flat(alike.cluster)];
      known.alike = { ...alike, after, whole, cluster };
      known.isFlat = true;
    }
    return known.alike;
  }
}

export function alikeOf(
  request: ApiRequest,
  info: RequestInfo,
  user: UserInfo | undefined,
  address?: string,
): Alike {
  const who = `,"verb":${quoted(info.verb)},"user":${user ? userJson(user) : '{}'},`;
  const agent = userAgentOf(request);
  const ips = sourceIps(request, address);
  const from =
    (ips.length > 0 ? `"sourceIPs":${JSON.stringify(ips)},` : '') +
    (agent === undefined ? '' : `"userAgent":${JSON.stringify(agent)},`);
  const { before, after } = info.isResource ? referenceAround(info) : { before: '', after: '' };
  const cluster = `"atoll.dev/logical-cluster":${quoted(info.cluster)}`;
  return { who, from, before, after, whole: who + from + before, cluster };
}

function isLike(
  { asked, user: by, agent, forwarded, real }: Known,
  request: ApiRequest,
  info: RequestInfo,
  user: UserInfo | undefined,
): boolean {
  const said = saidBy(request);
  return (
    by === user &&
    said.agent === agent &&
    said.forwarded === forwarded &&
    said.real === real &&
    asked.cluster === info.cluster &&
    asked.verb === info.verb &&
    asked.isResource === info.isResource &&
    asked.resource === info.resource &&
    asked.subresource === info.subresource &&
    asked.group === info.group &&
    asked.version === info.version &&
    namespaceOf(asked) === namespaceOf(info)
  );
}

function saidBy({ headers }: ApiRequest) {
  const {
    'user-agent': agent,
    'x-forwarded-for': forwarded,
    'x-real-ip': real,
  } = headers as Partial<Record<string, string>>;
  return { agent, forwarded, real };
}

/** In one piece, not put together anew for each event. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}
