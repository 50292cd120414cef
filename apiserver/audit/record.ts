import type { Verdict } from '../../kube/audit/decide.ts';
import type { Level, Stage } from '../../kube/audit/types.ts';
import type { ApiResponse, UserInfo } from '../../kube/http.ts';
import { encodeJson } from '../../kube/json.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Decision } from '../plugins.ts';
import { isLongRunning, type RequestInfo } from '../request.ts';
import type { Alike } from './alike.ts';
import { ended } from './ended.ts';
import {
  answersItself,
  areTokens,
  jsonOf,
  mayBeStatus,
  responseStatus,
  withoutManagedFields,
} from './objects.ts';
import { quoted } from './quoted.ts';
import { Reference, userJson } from './reference.ts';

/** Of an answer that is a stream: beyond, an event has none of it. */
const longestAnswer = 10 * 1024 * 1024;
/** Of all that admission adds to one event: who may write policies does not fill the administrator's disk. */
const longestAdded = 64 * 1024;
/** What the server itself says of a request, which nobody's policy says in its place. */
const ownPrefixes = ['atoll.dev/', 'authentication.kubernetes.io/', 'authorization.k8s.io/'];

export interface Recorder {
  now(): string;
  write(line: string): void;
}

/** Pieces of JSON that every event of a request has. */
export interface Fields {
  id: string;
  uri: string;
  alike: Alike;
  /** What the URL calls the logical cluster, as an annotation that follows; empty where that is its id. */
  path: string;
}

/** Up to the id, and from there to the URI. */
const heads = perText(
  (level: Level) => `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":`,
);
const stages = perText((stage: Stage) => `,"stage":"${stage}","requestURI":`);

/** Most requests are allowed, and nothing is said of why. */
const decisions = { allow: decisionOf('allow', '""'), forbid: decisionOf('forbid', '""') };

/** What becomes of one request, told in events of audit.k8s.io/v1 as it passes its stages. */
export class AuditRecord {
  readonly #recorder: Recorder;
  readonly #info: RequestInfo;
  readonly #verdict: Verdict;
  readonly #fields: Fields;
  /** Once something else is known of the object than what the URL says. */
  #ref: Reference | undefined;
  readonly #received: string;
  /** It or its answer is a token. */
  readonly #secret: boolean;
  readonly #isOwn: boolean;
  #impersonated = '';
  #request = '';
  #status = '';
  #object = '';
  #decision = '';
  #issued = '';
  #added: Set<string> | undefined;
  #annotations = '';

  constructor(recorder: Recorder, info: RequestInfo, verdict: Verdict, fields: Fields) {
    this.#recorder = recorder;
    this.#info = info;
    this.#verdict = verdict;
    this.#fields = fields;
    this.#secret = areTokens(info);
    this.#isOwn = answersItself(info);
    this.#received = recorder.now();
  }

  received(): void {
    this.#tell('RequestReceived', this.#received);
  }

  impersonated({ user, constraint }: { user: UserInfo; constraint?: string }): void {
    const by = constraint
      ? `"authenticationMetadata":{"impersonationConstraint":${JSON.stringify(constraint)}},`
      : '';
    this.#impersonated = `"impersonatedUser":${userJson(user)},${by}`;
  }

  decided({ allowed, reason, error }: Decision): void {
    if (!allowed && error !== undefined) {
      this.#decision = ',"authorization.k8s.io/reason":"internal error"';
      return;
    }
    const decision = allowed ? 'allow' : 'forbid';
    this.#decision = reason ? decisionOf(decision, JSON.stringify(reason)) : decisions[decision];
  }

  /** Which token was given, so that what is done with it is found in the same events. */
  issued(id: string): void {
    this.#issued = `,"authentication.kubernetes.io/issued-credential-id":${quoted(`JTI=${id}`)}`;
  }

  /** By admission. What is said already stays as it is. */
  annotated(key: string, value: string): void {
    if (this.#added?.has(key) || ownPrefixes.some((own) => key.startsWith(own))) return;
    const text = `,${JSON.stringify(key)}:${JSON.stringify(value)}`;
    if (this.#annotations.length + text.length > longestAdded) return;
    this.#added ??= new Set();
    this.#added.add(key);
    this.#annotations += text;
  }

  /** The object that was sent, as soon as it is decoded: what follows changes it. `shown` is asked for what is recorded of it. */
  sent(value: unknown, shown?: () => unknown): void {
    if (!isRecord(value)) return;
    const { metadata } = value;
    if (isRecord(metadata) && this.#info.isResource) {
      this.#ref ??= new Reference(this.#info);
      this.#ref.add(metadata);
    }
    if (!this.#takesRequest()) return;
    const recorded = (shown?.() ?? value) as Record<string, unknown>;
    this.#requestIs(encodeJson(this.#verdict.omitManagedFields ? withoutManagedFields(recorded) : recorded));
  }

  /** The body of a PATCH, in whatever dialect. */
  patched(body: Uint8Array = new Uint8Array(), type = ''): void {
    if (this.#takesRequest()) this.#requestIs(patchJson(body, type));
  }

  /** Whose answer it is by now; what follows is told as it ends. */
  answered(response: ApiResponse, stage: Stage = 'ResponseComplete'): ApiResponse {
    const info = this.#info;
    const type = String(response.headers['content-type'] ?? '');
    const isOwn = this.#isOwn;
    const status = mayBeStatus(response, info)
      ? jsonOf(type, response.body as Uint8Array, { isOwn })
      : undefined;
    this.#status = `"responseStatus":${responseStatus(response.status, status, this.#secret)},`;
    const lasts = isLongRunning(info) || response.tunnel !== undefined;
    const takes = this.#takesAnswer(response);
    const whole = response.body instanceof Uint8Array && !response.tunnel && !response.events;
    if (whole && takes) this.#answerIs(type, response.body as Uint8Array);
    if (lasts) this.#tell('ResponseStarted');
    if (whole) {
      this.#tell(stage);
      return response;
    }
    const most = takes && !lasts ? longestAnswer : 0;
    return ended(response, most, (bytes) => {
      if (bytes) this.#answerIs(type, bytes);
      this.#tell(stage);
    });
  }

  /** Nobody knows who asks: one event tells so. */
  refused(response: ApiResponse): void {
    const type = String(response.headers['content-type'] ?? '');
    const body = response.body instanceof Uint8Array ? response.body : new Uint8Array();
    const status = jsonOf(type, body);
    this.#status = `"responseStatus":${responseStatus(response.status, status, this.#secret)},`;
    if (this.#takesAnswer(response)) this.#answerIs(type, body);
    this.#tell('ResponseStarted');
  }

  #takesRequest(): boolean {
    const { level } = this.#verdict;
    return !this.#secret && (level === 'Request' || level === 'RequestResponse');
  }

  /** Logs are no objects, nor what is proxied; what is about no resource has one where it is discovery. */
  #takesAnswer({ status }: ApiResponse): boolean {
    const info = this.#info;
    if (this.#verdict.level !== 'RequestResponse' || this.#secret) return false;
    if (status >= 400) return true;
    return info.isResource ? !isLongRunning(info) : /^\/apis?(\/|$)/.test(info.path);
  }

  #answerIs(type: string, body: Uint8Array): void {
    const { omitManagedFields } = this.#verdict;
    const json = jsonOf(type, body, { omitManagedFields, isOwn: this.#isOwn });
    if (json !== undefined) this.#object = `"responseObject":${json},`;
  }

  #requestIs(json: string | undefined): void {
    if (json !== undefined) this.#request = `"requestObject":${json},`;
  }

  #tell(stage: Stage, at = this.#recorder.now()): void {
    const { level, omitStages } = this.#verdict;
    if (omitStages.includes(stage)) return;
    const { id, uri, alike, path } = this.#fields;
    const times = `"requestReceivedTimestamp":"${this.#received}","stageTimestamp":"${at}","annotations":{`;
    const came = `${this.#status}${this.#request}${this.#object}`;
    this.#recorder.write(
      `${heads(level)}${id}${stages(stage)}${uri}${this.#asked()}${came}${times}${alike.cluster}${path}${this.#issued}${this.#decision}${this.#annotations}}}`,
    );
  }

  /** From the verb to what it is about. */
  #asked(): string {
    const { who, from, before, after, whole } = this.#fields.alike;
    const object = this.#ref ? `"objectRef":${this.#ref.json},` : undefined;
    const name = before && nameOf(this.#info);
    if (object === undefined && this.#impersonated === '') return whole + name + after;
    return who + this.#impersonated + from + (object ?? before + name + after);
  }
}

/** Of few texts, each put together once. */
function perText<T extends string>(make: (of: T) => string): (of: T) => string {
  const known = new Map<T, string>();
  return (of) => {
    const text = known.get(of) ?? make(of);
    known.set(of, text);
    return text;
  };
}

function nameOf({ selected, name }: RequestInfo): string {
  const known = selected ?? name;
  return known && `,"name":${quoted(known)}`;
}

function decisionOf(decision: string, why: string): string {
  return `,"authorization.k8s.io/decision":"${decision}","authorization.k8s.io/reason":${why}`;
}

/** Made anew, never as it came: what is no JSON would say whatever it likes of the event around it. */
function patchJson(body: Uint8Array, type: string): string | undefined {
  if (type.startsWith('application/apply-patch+yaml')) return jsonOf('application/yaml', body);
  try {
    return JSON.stringify(JSON.parse(Buffer.from(body).toString()));
  } catch {
    return undefined;
  }
}
