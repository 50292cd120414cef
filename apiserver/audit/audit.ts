import { decideAudit } from '../../kube/audit/decide.ts';
import type { Level, Policy } from '../../kube/audit/types.ts';
import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import type { Peer } from '../plugins.ts';
import { clusterIn, type RequestInfo } from '../request.ts';
import { alikeOf, LastAsked } from './alike.ts';
import { preciseNow, TimeText } from './clock.ts';
import { quoted } from './quoted.ts';
import { AuditRecord, type Recorder } from './record.ts';
import { namespaceOf } from './reference.ts';
import { requestUri } from './source.ts';

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

/** Records requests as a policy says. */
export class Audit {
  readonly #options: AuditOptions;
  readonly #recorder: Recorder;
  readonly #last = new LastAsked();

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
    const asked = request.url.startsWith('/clusters/') ? clusterIn(request.url) : info.cluster;
    const path = asked === info.cluster ? '' : `,"atoll.dev/path":${quoted(asked)}`;
    return new AuditRecord(this.#recorder, info, verdict, {
      id: quoted(request.auditId ?? ''),
      uri: quoted(requestUri(request.sentUrl ?? request.url)),
      alike: peer ? this.#last.of(peer, request, info, user) : alikeOf(request, info, user),
      path,
    });
  }
}

/** Not a spread: this is on every request's way. */
function askedOf(info: RequestInfo, user: UserInfo | undefined) {
  const { verb, isResource, group, resource, subresource, path } = info;
  const name = info.selected ?? info.name;
  return { user, verb, isResource, group, resource, subresource, namespace: namespaceOf(info), name, path };
}
