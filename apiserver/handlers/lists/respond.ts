import type { ApiResponse } from '../../../kube/http.ts';
import type { Later } from '../../../kube/later.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Entry } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { clustersOf, saysClusters } from '../../encode/clusters-column.ts';
import { type Form, notAcceptable } from '../../encode/negotiate.ts';
import { partial } from '../../encode/partial.ts';
import { encoded, goType, includeOf, type Kinded, listKind } from '../../encode/respond.ts';
import { isSpliced, shownFrom, toSplice } from '../../encode/shown.ts';
import { tableOf } from '../../encode/table.ts';
import { respondJoined } from './join.ts';

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
    return respondJoined(
      exchange,
      entries.map((entry) => toSplice(exchange, entry)),
      meta,
    );
  }
  const objects = entries.map((entry) => shownFrom(exchange, entry));
  if (!saysClusters(exchange, form)) return encoded(200, shapeList(exchange, form, objects, meta), form);
  return clustersOf(exchange, objects).then((clusters) =>
    encoded(200, shapeList(exchange, form, objects, meta, clusters), form),
  );
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
