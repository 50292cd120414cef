import { managedByLabel, ourSlices, serviceNameLabel } from '../cluster/endpoints.ts';
import { locatorAnnotation, withdrawnLabel } from '../cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { at, isRecord, listAt, mapAt } from '../kube/untyped.ts';
import type { Engine } from './engine.ts';
import type { TargetRecord } from './records.ts';
import type { TargetPlace } from './target.ts';

const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const;

export function isWithdrawn({ kind, spec }: KubeObject): boolean {
  return kind === 'Service' && at(spec, 'selector', withdrawnLabel) !== undefined;
}

/**
 * Before a Service is withdrawn: the endpoints that it has, as slices that say that they are about to go. Nobody sends them
 * anything new who has others; whoever has none, such as pods there that wait to leave too, still reaches them.
 * https://kubernetes.io/docs/reference/networking/virtual-ips/#traffic-to-terminating-endpoints
 */
export async function keepServing(engine: Engine, place: TargetPlace, service: KubeObject): Promise<void> {
  const all = await slicesOf(engine, place);
  for (const slice of all.filter(({ metadata }) => metadata.labels?.[managedByLabel.slice] !== ourSlices)) {
    const made = standIn(slice, service);
    if (listAt(made, 'endpoints').length > 0) await put(engine, made, all);
  }
}

/** One that somebody else has made under its name stays as it is. */
async function put(engine: Engine, made: KubeObject, all: readonly KubeObject[]): Promise<void> {
  const { namespace = '', name = '' } = made.metadata;
  const { client, signal } = engine;
  const there = all.find(({ metadata }) => metadata.name === name);
  if (!there) {
    await client.create(slices, made, { namespace, signal }).catch(ignoreExisting);
  } else if (isSame(there, made)) {
    const body = { ...made, metadata: { ...made.metadata, uid: there.metadata.uid } };
    await client.patch(slices, { namespace, name }, 'merge', body, { signal });
  }
}

function ignoreExisting(error: unknown): void {
  if (!isStatusError(error, 'AlreadyExists')) throw error;
}

/** Both stand in for slices of one Service of ours. */
function isSame(one: KubeObject, other: KubeObject): boolean {
  const of = ({ metadata }: KubeObject) => metadata.annotations?.[withdrawnLabel];
  return of(one) !== undefined && of(one) === of(other);
}

/** What is there is to be withdrawn; or it was, and is wanted, or somebody died on the way. */
export function turns(
  manifest: KubeObject,
  object: KubeObject,
  { withdrawn }: Pick<TargetRecord, 'withdrawn'>,
): boolean {
  if (object.kind !== 'Service') return false;
  const isMarked = object.metadata.annotations?.[withdrawnLabel] !== undefined;
  if (isWithdrawn(manifest)) return isMarked || !isWithdrawn(object);
  return isMarked || isWithdrawn(object) || withdrawn === true;
}

/** Selecting its pods, with the note that slices may be made, or left, of when it does not. */
export function marked(manifest: KubeObject): KubeObject {
  const { metadata, spec } = manifest;
  const { [withdrawnLabel]: _none, ...selector } = mapAt(spec, 'selector') ?? {};
  const annotations = { ...metadata.annotations, [withdrawnLabel]: 'false' };
  return { ...manifest, metadata: { ...metadata, annotations }, spec: { ...(spec as object), selector } };
}

/** They have served their time: the Service selects its pods again. */
export async function endServing(engine: Engine, place: TargetPlace, service: KubeObject): Promise<void> {
  const locator = service.metadata.annotations?.[locatorAnnotation];
  for (const { metadata } of await slicesOf(engine, place)) {
    if (locator === undefined || metadata.annotations?.[withdrawnLabel] !== locator) continue;
    const { name = '', uid } = metadata;
    const how = { preconditions: { ...(uid && { uid }) } };
    await engine.client.delete(slices, { namespace: place.namespace, name }, how, engine.signal);
  }
}

async function slicesOf(engine: Engine, { namespace, name }: TargetPlace): Promise<KubeObject[]> {
  const labelSelector = `${serviceNameLabel}=${name}`;
  const { items } = await engine.client.list(slices, { namespace, labelSelector, signal: engine.signal });
  return items;
}

function standIn(slice: KubeObject, service: KubeObject): KubeObject {
  const { name, namespace, labels } = slice.metadata;
  const owner = labels?.[serviceNameLabel] ?? '';
  const endpoints = listAt(slice, 'endpoints').flatMap((endpoint) => {
    if (!isRecord(endpoint) || at(endpoint, 'conditions', 'ready') === false) return [];
    return [{ ...endpoint, conditions: { ready: false, serving: true, terminating: true } }];
  });
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-withdrawn`,
      ...(namespace !== undefined && { namespace }),
      labels: { [serviceNameLabel]: owner, [managedByLabel.slice]: ourSlices },
      annotations: { [withdrawnLabel]: service.metadata.annotations?.[locatorAnnotation] ?? '' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: owner, uid: service.metadata.uid ?? '' }],
    },
    addressType: slice['addressType'],
    endpoints,
    ports: slice['ports'],
  };
}
