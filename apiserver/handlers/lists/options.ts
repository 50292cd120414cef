import { quoteGo } from '../../../kube/quote.ts';
import { badRequest, invalid, type StatusCause, StatusError } from '../../../kube/status.ts';
import type { Store } from '../../../storage/store.ts';
import { tooLarge } from '../../registry/errors.ts';

export type Match = '' | 'Exact' | 'NotOlderThan';

export interface ListQuery {
  /** undefined: not given; 0: any. */
  revision: number | undefined;
  match: Match;
  limit: number;
  continue: string;
  /** undefined: neither asked for nor refused. */
  sendInitialEvents: boolean | undefined;
  bookmarks: boolean;
  timeoutSeconds: number | undefined;
}

/** Checks a list's or watch's query as kube-apiserver does. Throws StatusError 400 or 422. */
export function listQuery(query: URLSearchParams, watch: boolean): ListQuery {
  const text = query.get('resourceVersion') ?? '';
  const match = (query.get('resourceVersionMatch') ?? '') as Match;
  const asked = query.has('sendInitialEvents') ? isTrue(query.get('sendInitialEvents')) : undefined;
  // A watch from nowhere is one with initial events, for who takes bookmarks with their end marked.
  const legacy = watch && asked === undefined && match === '' && (text === '' || text === '0');
  const initial = legacy ? true : asked;
  const checked = legacy ? 'NotOlderThan' : match;
  const token = query.get('continue') ?? '';
  // What is no number is no query, whatever else is wrong with it.
  const limit = Math.max(0, parseInteger(query.get('limit')) ?? 0);
  const timeoutSeconds = parseInteger(query.get('timeoutSeconds'));
  const causes = watch ? watchCauses(checked, initial, token) : listCauses(text, match, query, initial);
  if (causes.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', causes);
  // What any state answers is answered whole, as from a cache.
  const anyState = !watch && text === '0' && match !== 'Exact' && token === '';
  return {
    revision: text === '' ? undefined : parseRevision(text, watch),
    match,
    limit: anyState ? 0 : limit,
    continue: token,
    sendInitialEvents: initial,
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    timeoutSeconds,
  };
}

const field = 'resourceVersionMatch';

function listCauses(
  version: string,
  match: string,
  query: URLSearchParams,
  initial: boolean | undefined,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (initial !== undefined) {
    causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (match === '') return causes;
  if (version === '') {
    causes.push(forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  }
  if (query.get('continue')) {
    causes.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`;
    causes.push({ reason: 'FieldValueNotSupported', message, field });
  }
  if (match === 'Exact' && version === '0') {
    causes.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  return causes;
}

function watchCauses(match: string, initial: boolean | undefined, token: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (initial !== undefined && match !== 'NotOlderThan') {
    causes.push(forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (initial === undefined && match !== '') {
    const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    causes.push(forbidden(field, why));
  }
  if (match !== '' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`;
    causes.push({ reason: 'FieldValueNotSupported', message, field });
  }
  if (match !== '' && token !== '') {
    causes.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  return causes;
}

function forbidden(at: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field: at };
}

export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** `late`: where kube-apiserver looks at it only after it looked at everything else. */
export function parseRevision(text: string, late = false): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  const quoted = quoteGo(text);
  const problem = `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`;
  throw late ? new StatusError(500, '', problem) : badRequest(`invalid resource version: ${problem}`);
}

/** Throws StatusError 400 in Go's words. */
export function parseInteger(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: invalid syntax`);
  }
  if (!Number.isSafeInteger(Number(text)) && BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  }
  return Number(text);
}

const freshWaitMillis = 3_000;
const freshPollMillis = 50;

/** Waits a little for a revision that another server may be ahead with; 504 when it does not come. */
export async function waitForRevision(
  store: Store,
  revision: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = Date.now() + freshWaitMillis;
  while (store.revision < revision) {
    if (Date.now() >= deadline || signal?.aborted) throw tooLarge(revision, store.revision);
    await new Promise((resolve) => setTimeout(resolve, freshPollMillis));
  }
}
