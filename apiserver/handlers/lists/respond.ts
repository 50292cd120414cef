import type { ApiResponse } from '../../../kube/http.ts';
import { andThen, type Later } from '../../../kube/later.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Pace } from '../../../kube/others-first.ts';
import type { Entry } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { clustersOf, saysClusters } from '../../encode/clusters-column.ts';
import { type Form, notAcceptable } from '../../encode/negotiate.ts';
import { partial } from '../../encode/partial.ts';
import { encoded, goType, includeOf, type Kinded, listKind } from '../../encode/respond.ts';
import { isOfAll, isSpliced, shownFrom, toSplice } from '../../encode/shown.ts';
import { tableOf } from '../../encode/table.ts';
import { respondJoined } from './join.ts';
import { respondInPieces } from './pieces.ts';

const mostAtOnce = 128 << 10;

export function respondList(
  exchange: ResourceExchange,
  form: Form,
  entries: readonly Entry[],
  metadata: Record<string, unknown>,
): Later<ApiResponse> {
  const { served } = exchange;
  // Lists of custom resources say that there is no more, those of built-in kinds say nothing.
  const meta = served.custom && form.shape === 'object' ? { continue: '', ...metadata } : metadata;
  if (form.encoding === 'json' && form.shape === 'object' && !form.pretty && isSpliced(exchange)) {
    const due = isOfAll(exchange) ? spliced(exchange, entries) : entries;
    return andThen(due, (all) => respondJoined(exchange, all, meta));
  }
  const says = saysClusters(exchange, form);
  const make = (some: readonly Entry[]): Later<Kinded> => {
    const objects = some.map((entry) => shownFrom(exchange, entry));
    if (!says) return shapeList(exchange, form, objects, meta);
    return clustersOf(exchange, objects).then((clusters) =>
      shapeList(exchange, form, objects, meta, clusters),
    );
  };
  if (isLong(entries)) return respondInPieces(exchange, form, entries, make);
  return andThen(make(entries), (list) => encoded(200, list, form));
}

/** Objects of all logical clusters, some of which have to be made: a few at a time. */
async function spliced(exchange: ResourceExchange, entries: readonly Entry[]): Promise<Entry[]> {
  const pace = new Pace(exchange.info.cluster);
  const all: Entry[] = [];
  for (const entry of entries) {
    const one = toSplice(exchange, entry);
    all.push(one);
    const others = one === entry ? undefined : pace.after(one.value.length);
    if (others) await others;
  }
  return all;
}

/** It takes longer to make than anybody has to wait. */
function isLong(entries: readonly Entry[]): boolean {
  let left = mostAtOnce;
  return entries.some(({ value }) => {
    left -= value.length;
    return left < 0;
  });
}

/** A list in the shape that the client asked for. Throws StatusError 406. */
export function shapeList(
  exchange: ResourceExchange,
  form: Form,
  objects: KubeObject[],
  metadata: Record<string, unknown>,
  clusters?: readonly string[],
): Kinded {
  const { served } = exchange;
  const { version } = form;
  if (form.shape === 'Table') {
    const include = includeOf(exchange);
    return { ...tableOf(served, objects, { version, include, metadata, now: new Date(), clusters }) };
  }
  if (form.shape === 'PartialObjectMetadata') {
    if (!form.list) {
      const type = goType(exchange, 'List');
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (${type})`,
      );
    }
    return {
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${version}`,
      metadata,
      // As kube-apiserver says it of this shape alone.
      items: objects.length > 0 ? objects.map((object) => partial(object, version)) : null,
    };
  }
  const bare = objects.map(({ kind, apiVersion, ...rest }) =>
    served.custom ? { kind, apiVersion, ...rest } : rest,
  );
  return { ...listKind(exchange), metadata, items: bare };
}
