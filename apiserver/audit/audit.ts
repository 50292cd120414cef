import { decideAudit } from '../../kube/audit/decide.ts';
import type { Level, Policy } from '../../kube/audit/types.ts';
import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import type { Peer } from '../plugins.ts';
import { clusterIn, type RequestInfo } from '../request.ts';
import { preciseNow, TimeText } from './clock.ts';
import { quoted } from './quoted.ts';
import { AuditRecord, type Recorder } from './record.ts';
import { namespaceOf, userJson } from './reference.ts';
import { requestUri, sourceIps, userAgentOf } from './source.ts';

/** Told of each request once, by the level that the policy gives it, and of each event. */
export interface AuditObserver {
  judged(level: Level): void;
  told(): void;
}

export interface AuditOptions {
  policy: Policy;
  /** One event of audit.k8s.io/v1, as JSON on one line. Returns at once, whatever becomes of it. */
  write(line: string): void;
  /** Milliseconds since the epoch, with what there is of a fraction. */
  now?(): number;
  observer?: AuditObserver;
}

/** Fields of an event that requests on one connection share. */
interface From {
  agent: string | undefined;
  forwarded: string | undefined;
  real: string | undefined;
  text: string;
}

/** Records requests as a policy says. */
export class Audit {
  readonly #options: AuditOptions;
  readonly #recorder: Recorder;
  /** Texts of what stays the same from one request to the next. */
  readonly #users = new WeakMap<UserInfo, string>();
  readonly #peers = new WeakMap<Peer, From>();

  constructor(options: AuditOptions) {
    const { write, now = preciseNow, observer } = options;
    this.#options = options;
    const time = new TimeText();
    this.#recorder = {
      now: () => time.of(now()),
      write: (line) => {
        observer?.told();
        write(line);
      },
    };
  }

  /** Undefined where the policy wants nothing to be known of such a request. `user` is undefined where nobody knows. */
  begin(
    request: ApiRequest,
    info: RequestInfo,
    user: UserInfo | undefined,
    peer?: Peer,
  ): AuditRecord | undefined {
    const { policy, observer } = this.#options;
    const verdict = decideAudit(policy, askedOf(info, user));
    observer?.judged(verdict.level);
    if (verdict.level === 'None') return undefined;
    const uri = quoted(requestUri(request.sentUrl ?? request.url));
    const head = `"requestURI":${uri},"verb":${quoted(info.verb)},"user":${user ? this.#userOf(user) : '{}'},`;
    const from = peer ? this.#fromOf(peer, request) : fromOf(request, undefined);
    const cluster = `"atoll.dev/logical-cluster":${quoted(info.cluster)}`;
    const asked = request.url.startsWith('/clusters/') ? clusterIn(request.url) : info.cluster;
    const path = asked === info.cluster ? '' : `,"atoll.dev/path":${quoted(asked)}`;
    return new AuditRecord(this.#recorder, info, verdict, {
      id: quoted(request.auditId ?? ''),
      head,
      from,
      annotations: cluster + path,
    });
  }

  #userOf(user: UserInfo): string {
    const known = this.#users.get(user);
    if (known !== undefined) return known;
    const json = userJson(user);
    this.#users.set(user, json);
    return json;
  }

  #fromOf(peer: Peer, request: ApiRequest): string {
    const {
      'user-agent': agent,
      'x-forwarded-for': forwarded,
      'x-real-ip': real,
    } = request.headers as Partial<Record<string, string>>;
    const known = this.#peers.get(peer);
    if (known?.agent === agent && known?.forwarded === forwarded && known?.real === real && known)
      return known.text;
    const text = fromOf(request, peer.address);
    this.#peers.set(peer, { agent, forwarded, real, text });
    return text;
  }
}

function fromOf(request: ApiRequest, address: string | undefined): string {
  const agent = userAgentOf(request);
  const ips = sourceIps(request, address);
  const from = ips.length > 0 ? `"sourceIPs":${JSON.stringify(ips)},` : '';
  return agent === undefined ? from : `${from}"userAgent":${JSON.stringify(agent)},`;
}

/** Not a spread: this is on every request's way. */
function askedOf(info: RequestInfo, user: UserInfo | undefined) {
  const { verb, isResource, group, resource, subresource, path } = info;
  const name = info.selected ?? info.name;
  return { user, verb, isResource, group, resource, subresource, namespace: namespaceOf(info), name, path };
}
