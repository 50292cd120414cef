import { rootCluster } from '../../cluster/names.ts';
import type { Transport, UserInfo } from '../../kube/http.ts';
import { StatusError } from '../../kube/status.ts';
import { isRecord, record, strings, text } from '../../kube/untyped.ts';
import type { Authenticator } from '../plugins.ts';
import { bearerToken } from './bearer.ts';
import { scopesExtra } from './impersonate.ts';
import { defaultIssuer, issuerOf } from './issuer.ts';
import { Remembered } from './remembered.ts';

const apiVersion = 'authentication.k8s.io/v1';
/** For how long an answer is remembered, a no for less: who was just made known is not refused for long. */
const rememberMs = { yes: 10_000, no: 2_000 };
/** For how long who was good is asked about before others. */
const goodMs = 3_600_000;
/** Questions at a time: so many about tokens that anybody may have made up, and as many about those that were good. */
export const mostAsked = 100;
/** Of those about tokens that were good, so many about one. */
const mostOfOne = 4;
/** Nobody's token is longer; it is not handed on. */
const mostLength = 64 << 10;

const busy = 'the webhook that knows tokens is asked about too many of them, please try again later';

export interface WebhookOptions {
  /** To the webhook, which is POSTed a TokenReview at its own path. */
  transport: Transport;
  failed(error: unknown): void;
  /** Of ServiceAccounts' tokens in root: each logical cluster's own is below it. */
  issuer: string;
  now?: () => number;
}

/** `scoped`: it is one in the logical cluster that was asked about, and no word of others. */
interface Said {
  user: UserInfo;
  scoped: boolean;
}

/** What came of a question: nobody's, undefined, is no word of the other logical clusters either. */
interface Answer {
  user?: UserInfo | undefined;
  /** For whoever asks about the token, wherever: it is good everywhere, or nothing was learnt. */
  forAll: boolean;
  cluster: string;
}

/**
 * Whom a webhook says a token is of, for tokens that nobody else knows. It is asked for the audience that is this server,
 * and the one that is the logical cluster: a token for that alone is good there alone. Throws StatusError 429 while it is
 * asked about too many others: whose it is, is not known then.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
 */
export function webhookAuthenticator(options: WebhookOptions): Authenticator {
  const memory = memoryOf(options.now);
  const asked = { new: new Questions(), good: new Questions() };
  const ask = async (token: string, cluster: string): Promise<Answer> => {
    try {
      const said = await review(options.transport, token, audienceOf(options.issuer, cluster));
      return { user: memory.keep(token, cluster, said), forAll: said?.scoped === false, cluster };
    } catch (error) {
      options.failed(error);
      return { forAll: true, cluster };
    }
  };
  const askHere = async (token: string, cluster: string): Promise<UserInfo | undefined> => {
    // Any name may be a logical cluster's: one token, asked about under all of them, takes few of the places.
    const questions =
      memory.good.here(token, cluster) && asked.good.hasPlace(token, cluster) ? asked.good : asked.new;
    return (await questions.once(token, cluster, () => ask(token, cluster))).user;
  };
  const askOnce = async (token: string, cluster: string): Promise<UserInfo | undefined> => {
    const answer = await asked.good.once(token, undefined, () => ask(token, cluster));
    if (answer.forAll || answer.cluster === cluster) return answer.user;
    const { user, nobody } = memory.get(token, cluster);
    return user !== undefined || nobody ? user : askHere(token, cluster);
  };
  return (request, _peer, cluster) => {
    const token = bearerToken(request);
    if (token === undefined || token.length > mostLength) return undefined;
    const { user, nobody } = memory.get(token, cluster);
    if (user !== undefined || nobody) return user;
    return memory.good.everywhere(token) ? askOnce(token, cluster) : askHere(token, cluster);
  };
}

function memoryOf(now: (() => number) | undefined) {
  const everywhere = new Remembered<UserInfo>(now, now);
  const somewhere = new Remembered<UserInfo>(now, now);
  // Apart: tokens that anybody makes up would take the place of those that are good.
  const nobodies = new Remembered<true>(now, now);
  const good = { everywhere: new Remembered<true>(now, now), somewhere: new Remembered<true>(now, now) };
  const keyOf = (token: string, cluster: string) => `${cluster}/${token}`;
  return {
    get(token: string, cluster: string) {
      const key = keyOf(token, cluster);
      const user = everywhere.get(token) ?? somewhere.get(key);
      return { user, nobody: nobodies.get(key) === true };
    },
    good: {
      everywhere: (token: string) => good.everywhere.get(token) === true,
      here: (token: string, cluster: string) => good.somewhere.get(keyOf(token, cluster)) === true,
    },
    /** Whose it is in that cluster. */
    keep(token: string, cluster: string, said: Said | undefined): UserInfo | undefined {
      const key = keyOf(token, cluster);
      if (said?.scoped === false) {
        good.everywhere.put(token, true, goodMs);
        everywhere.put(token, said.user, rememberMs.yes);
        return said.user;
      }
      good.everywhere.forget(token);
      if (said === undefined) {
        good.somewhere.forget(key);
        nobodies.put(key, true, rememberMs.no);
        return undefined;
      }
      const user = within(said.user, cluster);
      good.somewhere.put(key, true, goodMs);
      somewhere.put(key, user, rememberMs.yes);
      return user;
    },
  };
}

/** Those that are on their way, each once: by token, and the logical cluster it is asked about, undefined for all. */
class Questions {
  readonly #asked = new Map<string, Map<string | undefined, Promise<Answer>>>();
  #count = 0;

  /** Whether one token takes no more of the places than it may. */
  hasPlace(token: string, cluster: string): boolean {
    const same = this.#asked.get(token);
    return same === undefined || same.size < mostOfOne || same.has(cluster);
  }

  once(token: string, cluster: string | undefined, ask: () => Promise<Answer>): Promise<Answer> {
    const same = this.#asked.get(token) ?? new Map<string | undefined, Promise<Answer>>();
    const before = same.get(cluster);
    if (before !== undefined) return before;
    if (this.#count >= mostAsked)
      throw new StatusError(429, 'TooManyRequests', busy, { retryAfterSeconds: 1 });
    const made = ask().finally(() => {
      this.#count--;
      same.delete(cluster);
      if (same.size === 0) this.#asked.delete(token);
    });
    this.#count++;
    same.set(cluster, made);
    this.#asked.set(token, same);
    return made;
  }
}

/** As tokens of ServiceAccounts name the API of a logical cluster; root's is the server's. */
function audienceOf(issuer: string, cluster: string): string | undefined {
  return ['', '*', rootCluster].includes(cluster) ? undefined : issuerOf(issuer, cluster);
}

function within(user: UserInfo, cluster: string): UserInfo {
  return { ...user, extra: { ...user.extra, [scopesExtra]: [`cluster:${cluster}`] } };
}

async function review(
  transport: Transport,
  token: string,
  own: string | undefined,
): Promise<Said | undefined> {
  const audiences = own === undefined ? [defaultIssuer] : [defaultIssuer, own];
  const question = { kind: 'TokenReview', apiVersion, metadata: {}, spec: { token, audiences } };
  const body = Buffer.from(JSON.stringify(question));
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await transport({ method: 'POST', url: '', headers, body });
  if (answer.status !== 200 && answer.status !== 201)
    throw new Error(`the webhook answered ${answer.status}`);
  const said: unknown = JSON.parse(Buffer.from(answer.body as Uint8Array).toString());
  if (!isRecord(said) || said['kind'] !== 'TokenReview')
    throw new Error('the webhook answered no TokenReview');
  const status = record(said['status']);
  // Who says nothing of audiences knows of none: it is good for this server.
  const meant = strings(status['audiences']);
  const whole = meant.length === 0 || meant.includes(defaultIssuer);
  const user = whole || (own !== undefined && meant.includes(own)) ? userIn(status) : undefined;
  return user && { user, scoped: !whole };
}

/** What is the system's here is said here: another cluster's accounts have the names that our own have. */
function userIn(status: Record<string, unknown>): UserInfo | undefined {
  if (status['authenticated'] !== true) return undefined;
  const user = record(status['user']);
  const [name, uid] = [text(user['username']), text(user['uid'])];
  const groups = strings(user['groups']).filter((group) => group !== 'system:authenticated');
  if (name === '' || [name, ...groups].some((one) => one.startsWith('system:'))) return undefined;
  const said = Object.entries(record(user['extra'])).map(([key, values]) => [key, strings(values)] as const);
  const extra: Record<string, readonly string[]> = Object.fromEntries(
    said.filter(([key]) => !key.startsWith('authentication.kcp.io/')),
  );
  return { name, ...(uid !== '' && { uid }), groups, ...(Object.keys(extra).length > 0 && { extra }) };
}
