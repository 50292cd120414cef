import { badRequest, invalid, type StatusCause } from '../../kube/status.ts';
import type { Store } from '../../storage/store.ts';
import { tooLarge } from '../registry/errors.ts';

export type Match = '' | 'Exact' | 'NotOlderThan';

export interface ListQuery {
  /** undefined: not given; 0: any. */
  revision: number | undefined;
  match: Match;
  limit: number;
  continue: string;
  sendInitialEvents: boolean;
  bookmarks: boolean;
  timeoutSeconds: number | undefined;
}

/** Checks a list's or watch's query as kube-apiserver does. Throws StatusError 400 or 422. */
export function listQuery(query: URLSearchParams, watch: boolean): ListQuery {
  const text = query.get('resourceVersion') ?? '';
  const match = (query.get('resourceVersionMatch') ?? '') as Match;
  const initial = query.has('sendInitialEvents') ? isTrue(query.get('sendInitialEvents')) : undefined;
  const causes = watch ? watchCauses(match, initial) : listCauses(text, match, query, initial);
  if (causes.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', causes);
  return {
    revision: text === '' ? undefined : parseRevision(text),
    match,
    limit: parseInteger(query.get('limit')) ?? 0,
    continue: query.get('continue') ?? '',
    sendInitialEvents: initial ?? false,
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    timeoutSeconds: parseInteger(query.get('timeoutSeconds')),
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

function watchCauses(match: string, initial: boolean | undefined): StatusCause[] {
  const causes: StatusCause[] = [];
  if (initial === undefined && match !== '') {
    const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    causes.push(forbidden(field, why));
  }
  if (initial !== undefined && match === '') {
    causes.push(forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match !== '' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`;
    causes.push({ reason: 'FieldValueNotSupported', message, field });
  }
  return causes;
}

function forbidden(at: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field: at };
}

export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function parseRevision(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`,
  );
}

function parseInteger(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
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
