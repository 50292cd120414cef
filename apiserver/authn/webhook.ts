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

/**
 * Whom a webhook says a token is of, for tokens that nobody else knows. It is asked for the audience that is this server,
 * and the one that is the logical cluster: a token for that alone is good there alone. Throws StatusError 429 while it is
 * asked about too many others: whose it is, is not known then.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
 */
export function webhookAuthenticator(options: WebhookOptions): Authenticator {
  const { failed, issuer, now } = options;
  const everywhere = new Remembered<UserInfo>(now);
  const somewhere = new Remembered<UserInfo>(now);
  // Apart: tokens that anybody makes up would take the place of those that are good.
  const nobodies = new Remembered<true>(now);
  const good = new Remembered<true>(now);
  const asked = { new: new Questions(), good: new Questions() };
  const ask = async (token: string, key: string, cluster: string): Promise<UserInfo | undefined> => {
    try {
      const said = await review(options.transport, token, audienceOf(issuer, cluster));
      if (said === undefined) {
        nobodies.put(key, true, rememberMs.no);
        return undefined;
      }
      good.put(token, true, goodMs);
      const user = said.scoped ? within(said.user, cluster) : said.user;
      if (said.scoped) somewhere.put(key, user, rememberMs.yes);
      else everywhere.put(token, user, rememberMs.yes);
      return user;
    } catch (error) {
      failed(error);
      return undefined;
    }
  };
  return (request, _peer, cluster) => {
    const token = bearerToken(request);
    if (token === undefined || token.length > mostLength) return undefined;
    const key = `${cluster}/${token}`;
    const user = everywhere.get(token) ?? somewhere.get(key);
    if (user !== undefined || nobodies.get(key)) return user;
    const questions = good.get(token) ? asked.good : asked.new;
    return questions.once(key, () => ask(token, key, cluster));
  };
}

type Question = Promise<UserInfo | undefined>;

/** Those that are on their way, each once. */
class Questions {
  readonly #asked = new Map<string, Question>();

  once(key: string, ask: () => Question): Question {
    const before = this.#asked.get(key);
    if (before !== undefined) return before;
    if (this.#asked.size >= mostAsked)
      throw new StatusError(429, 'TooManyRequests', busy, { retryAfterSeconds: 1 });
    const made = ask().finally(() => this.#asked.delete(key));
    this.#asked.set(key, made);
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
