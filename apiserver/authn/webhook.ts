import type { Transport, UserInfo } from '../../kube/http.ts';
import { StatusError } from '../../kube/status.ts';
import { isRecord, record, strings, text } from '../../kube/untyped.ts';
import type { Authenticator } from '../plugins.ts';
import { bearerToken } from './bearer.ts';
import { defaultIssuer } from './issuer.ts';
import { Remembered } from './remembered.ts';

const apiVersion = 'authentication.k8s.io/v1';
/** For how long an answer is remembered, a no for less: who was just made known is not refused for long. */
const rememberMs = { yes: 10_000, no: 2_000 };
/** Questions at a time. */
const mostAsked = 100;
/** Nobody's token is longer; it is not handed on. */
const mostLength = 64 << 10;

const busy = 'the webhook that knows tokens is asked about too many of them, please try again later';

export interface WebhookOptions {
  /** To the webhook, which is POSTed a TokenReview at its own path. */
  transport: Transport;
  failed(error: unknown): void;
}

/**
 * Whom a webhook says a token is of, for tokens that nobody else knows. Throws StatusError 429 while it is asked about too
 * many others: whose it is, is not known then.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
 */
export function webhookAuthenticator({ transport, failed }: WebhookOptions): Authenticator {
  const users = new Remembered<UserInfo>();
  // Apart: tokens that anybody makes up would take the place of those that are good.
  const nobodies = new Remembered<true>();
  const asked = new Map<string, Promise<UserInfo | undefined>>();
  const ask = async (token: string): Promise<UserInfo | undefined> => {
    try {
      const user = await review(transport, token);
      if (user) users.put(token, user, rememberMs.yes);
      else nobodies.put(token, true, rememberMs.no);
      return user;
    } catch (error) {
      failed(error);
      return undefined;
    } finally {
      asked.delete(token);
    }
  };
  return (request) => {
    const token = bearerToken(request);
    if (token === undefined || token.length > mostLength) return undefined;
    const user = users.get(token);
    if (user !== undefined || nobodies.get(token)) return user;
    const before = asked.get(token);
    if (before !== undefined) return before;
    if (asked.size >= mostAsked)
      throw new StatusError(429, 'TooManyRequests', busy, { retryAfterSeconds: 1 });
    const made = ask(token);
    asked.set(token, made);
    return made;
  };
}

async function review(transport: Transport, token: string): Promise<UserInfo | undefined> {
  const question = {
    kind: 'TokenReview',
    apiVersion,
    metadata: {},
    spec: { token, audiences: [defaultIssuer] },
  };
  const body = Buffer.from(JSON.stringify(question));
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await transport({ method: 'POST', url: '', headers, body });
  if (answer.status !== 200 && answer.status !== 201)
    throw new Error(`the webhook answered ${answer.status}`);
  const said: unknown = JSON.parse(Buffer.from(answer.body as Uint8Array).toString());
  if (!isRecord(said) || said['kind'] !== 'TokenReview')
    throw new Error('the webhook answered no TokenReview');
  return userIn(record(said['status']));
}

/** What is the system's here is said here: another cluster's accounts have the names that our own have. */
function userIn(status: Record<string, unknown>): UserInfo | undefined {
  const audiences = strings(status['audiences']);
  if (status['authenticated'] !== true || (audiences.length > 0 && !audiences.includes(defaultIssuer)))
    return undefined;
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
