import { Pace } from '../../../kube/others-first.ts';
import { badRequest, expired, StatusError } from '../../../kube/status.ts';
import { type Entry, type Range, StoreError } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { decodeContinue, encodeContinue } from '../../registry/continue.ts';
import { translate } from '../../registry/errors.ts';
import { collectionRange, keyRange, objectKey } from '../../registry/keys.ts';
import { defaultEntries } from '../../registry/kinds/default-objects.ts';
import { inScope } from '../../registry/registry.ts';
import type { Selection } from '../../registry/selectors.ts';
import { both } from '../../slices/keys.ts';
import type { ListQuery } from './options.ts';

interface Page {
  entries: Entry[];
  revision: number;
  /** Absent on the last page. */
  continue?: string;
  remaining?: number;
}

const scanPage = 500;

/** The entries of a collection that a selection wants, as far as the limit goes. */
export async function readPage(
  exchange: ResourceExchange,
  query: ListQuery,
  selection: Selection,
): Promise<Page> {
  const { core, info, stored } = exchange;
  const whole = wholeRange(exchange);
  const prefix = prefixOf(exchange, whole);
  if (exchange.beside && query.continue === '') return readBeside(exchange, whole, selection);
  const token = query.continue === '' ? undefined : decodeContinue(query.continue, prefix);
  // What is no token is told before that there may be nothing beside one.
  if (token !== undefined && query.revision)
    throw badRequest('specifying resource version is not allowed when using continue');
  const single = rangeFor(exchange, selection);
  // A limit means a page of one revision; what is one object is no page.
  const isPage = query.match === '' && query.limit > 0 && single === undefined;
  const exact = query.match === 'Exact' || (query.revision !== undefined && query.revision > 0 && isPage);
  let revision = token
    ? token.revision === -1
      ? undefined
      : token.revision
    : exact
      ? query.revision
      : undefined;
  const range = single ?? whole;
  const found: Entry[] = [];
  const pace = new Pace(info.cluster);
  let after = token?.after;
  for (;;) {
    const limit =
      query.limit === 0 ? undefined : selection.everything ? query.limit - found.length : scanPage;
    const asked = { revision, limit, after, prefix };
    const part = await listPart(exchange, range, asked, token !== undefined);
    revision = part.revision;
    for (const [index, listed] of part.entries.entries()) {
      after = listed.key;
      const others = selection.everything ? undefined : pace.after(listed.value.length);
      if (others) await others;
      const entry = core.registry.asDefined(stored, info.cluster, listed);
      if (!wanted(exchange, selection, entry)) {
        exchange.dropped?.(listed);
        continue;
      }
      found.push(entry);
      if (query.limit === 0 || found.length < query.limit) continue;
      const left = part.entries.length - index - 1 + part.remaining;
      if (left === 0) break;
      const next = encodeContinue({ revision, after }, prefix);
      const counted = selection.everything && (info.cluster !== '*' || info.namespace === '');
      return { entries: found, revision, continue: next, ...(counted && { remaining: left }) };
    }
    if (!part.more || (query.limit > 0 && found.length >= query.limit)) break;
  }
  return { entries: found, revision: revision ?? core.store.revision };
}

/** All that the path is about. */
export function wholeRange({ info, stored, apart }: ResourceExchange): Range {
  return apart ? both : collectionRange(stored.info, info.cluster, info.namespace);
}

/** What all of its keys begin with. */
function prefixOf({ apart, stored }: ResourceExchange, whole: Range): string {
  return apart ? `/${stored.info.group}/` : whole.start;
}

/** All at once, whatever the limit, for defaults are few: with those of which nothing is stored. */
async function readBeside(exchange: ResourceExchange, whole: Range, selection: Selection): Promise<Page> {
  const { info, stored } = exchange;
  const range = rangeFor(exchange, selection) ?? whole;
  const asked = { revision: undefined, limit: undefined, after: undefined, prefix: whole.start };
  const { entries, revision } = await listPart(exchange, range, asked, false);
  const there = new Set(entries.map(({ key }) => key));
  const all = [
    ...entries,
    ...defaultEntries(stored.info, info.cluster, info.namespace).filter(
      ({ key }) => !there.has(key) && key >= range.start && key < range.end,
    ),
  ].sort((a, b) => (a.key < b.key ? -1 : 1));
  return { entries: all.filter((entry) => wanted(exchange, selection, entry)), revision };
}

async function listPart(
  exchange: ResourceExchange,
  range: { start: string; end: string },
  options: {
    revision: number | undefined;
    limit: number | undefined;
    after: string | undefined;
    prefix: string;
  },
  continued: boolean,
) {
  const { revision, limit, after } = options;
  try {
    return await exchange.core.store.list(range, {
      ...(revision !== undefined && { revision }),
      ...(limit !== undefined && { limit }),
      ...(after !== undefined && { after }),
    });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'compacted') {
      throw translate(error, exchange.served.info, '');
    }
    if (!continued) throw expired('The resourceVersion for the provided list is too old.');
    throw new StatusError(
      410,
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      undefined,
      { continue: encodeContinue({ revision: -1, after: after ?? '' }, options.prefix) },
    );
  }
}

/** A selection by name within one namespace reads one key. */
export function rangeFor(exchange: ResourceExchange, selection: Selection) {
  const { info, stored } = exchange;
  if (selection.name === undefined || selection.name === '' || info.cluster === '*') return undefined;
  if (stored.info.namespaced && info.namespace === '') return undefined;
  return keyRange(objectKey(stored.info, info.cluster, info.namespace, selection.name));
}

function wanted(exchange: ResourceExchange, selection: Selection, entry: Entry): boolean {
  const { core, info, stored } = exchange;
  if (!inScope(stored, info, entry)) return false;
  if (selection.everything) return true;
  return selection.matches(entry.value, () => core.registry.decode(stored, info.cluster, entry));
}
