import {
  endpointsController,
  isMirrored,
  isPlaceholder,
  isPlaceholderSlice,
  managedByLabel,
  mirroringController,
  serviceNameLabel,
  sliceController,
  sliceName,
} from '../../cluster/endpoints.ts';
import { isSelectorless } from '../../cluster/kinds.ts';
import { isOurs, isReflected } from '../../cluster/reflected.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import { listAt, mapAt, textAt } from '../../kube/untyped.ts';
import { mirrorsOf } from './mirror.ts';

/** What a logical cluster holds of one name. */
export interface Found {
  service: KubeObject | undefined;
  endpoints: KubeObject | undefined;
  /** Those that say they are of that Service. */
  slices: readonly KubeObject[];
  /** The Service was there before. */
  wasThere: boolean;
}

export interface Steps {
  create: KubeObject[];
  /** Each in place of the one of its name. */
  update: { old: KubeObject; wanted: KubeObject }[];
  remove: KubeObject[];
}

const headless = 'service.kubernetes.io/headless';
const skipMirror = 'endpointslice.kubernetes.io/skip-mirror';

/**
 * What the endpoint controllers of Kubernetes would have here and no physical cluster says: empty Endpoints and an empty
 * EndpointSlice of a Service whose pods run nowhere, slices of the Endpoints that a user writes, and the end of
 * Endpoints with their Service. https://kubernetes.io/docs/concepts/services-networking/service/#services-without-selectors
 */
export function decideEndpoints(found: Found): Steps {
  const { service, endpoints } = found;
  const none: Steps = { create: [], update: [], remove: [] };
  if (!service || service.metadata.deletionTimestamp) {
    const goes = endpoints && !isReflected(endpoints) && (found.wasThere || isPlaceholder(endpoints));
    return goes ? { ...none, remove: [endpoints] } : none;
  }
  if (!isSelectorless(service)) return placeholders(service, found);
  // Of one that is only a name and has a selector nobody keeps any.
  const isSelecting = Object.keys(mapAt(service, 'spec', 'selector') ?? {}).length > 0;
  return mirrors(found.slices, isSelecting ? undefined : endpoints);
}

function placeholders(service: KubeObject, { endpoints, slices }: Found): Steps {
  const wanted = emptyEndpoints(service);
  const make = endpoints === undefined ? [wanted] : [];
  const told = slices.some((slice) => isReflected(slice) && !isMirrored(slice));
  const mine = slices.filter((slice) => isPlaceholderSlice(slice, service.metadata.uid));
  const stale = slices.filter((slice) => isNobodys(slice) && !mine.includes(slice));
  const slice = emptySlice(service);
  return {
    create: [...make, ...(told || mine.length > 0 ? [] : [slice])],
    update: [
      ...(endpoints && !isReflected(endpoints) ? emptied(endpoints, wanted) : []),
      ...(told ? [] : mine).flatMap((old) => emptied(old, slice)),
    ],
    remove: [...stale, ...(told ? mine : [])],
  };
}

/** Slices that a controller keeps, and no cluster's does: restored, copied, or mirrored before there was a selector. */
function isNobodys(slice: KubeObject): boolean {
  const { labels, deletionTimestamp } = slice.metadata;
  const isKept = labels?.[managedByLabel.slice] === sliceController || isMirrored(slice);
  return isKept && !isReflected(slice) && deletionTimestamp === undefined;
}

/** Whatever a user wrote into it: whom a selector finds is not theirs to say. */
function emptied(old: KubeObject, wanted: KubeObject): Steps['update'] {
  const { labels = {} } = wanted.metadata;
  const isEmpty = ['subsets', 'endpoints', 'ports'].every((name) => listAt(old, name).length === 0);
  if (old.metadata.deletionTimestamp || (isEmpty && deepEqual(old.metadata.labels, labels))) return [];
  const { subsets: _, ...rest } = old;
  const { endpoints, ports } = wanted;
  const lists = wanted.kind === 'Endpoints' ? {} : { endpoints, ports };
  return [{ old, wanted: { ...rest, ...lists, metadata: { ...old.metadata, labels } } }];
}

/** As the endpoints controller makes them, with the Service's labels. */
function emptyEndpoints(service: KubeObject): KubeObject {
  const { name = '', namespace = '' } = service.metadata;
  const labels = { ...labelsOf(service), [managedByLabel.endpoints]: endpointsController };
  return { apiVersion: 'v1', kind: 'Endpoints', metadata: { name, namespace, labels } };
}

function emptySlice(service: KubeObject): KubeObject {
  const { name = '', namespace = '' } = service.metadata;
  const [family = 'IPv4'] = listAt(service, 'spec', 'ipFamilies');
  return sliceOf({
    namespace,
    service: name,
    addressType: String(family),
    labels: labelsOf(service),
    managedBy: sliceController,
    owner: ownerOf(service, 'Service'),
  });
}

function labelsOf(service: KubeObject): Record<string, string> {
  const isHeadless = textAt(service, 'spec', 'clusterIP') === 'None';
  return { ...service.metadata.labels, ...(isHeadless && { [headless]: '' }) };
}

/** A slice that this controller makes. */
function sliceOf(of: {
  namespace: string;
  service: string;
  addressType: string;
  labels: Record<string, string>;
  managedBy: string;
  owner: OwnerReference;
  part?: string;
}): KubeObject {
  const { namespace, service, addressType, labels, managedBy, owner, part = '' } = of;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${service}-`,
      name: sliceName(service, owner.uid, addressType, part),
      namespace,
      labels: { ...labels, [managedByLabel.slice]: managedBy, [serviceNameLabel]: service },
      ownerReferences: [owner],
    },
    addressType,
    endpoints: [],
    ports: [],
  };
}

function ownerOf({ metadata }: KubeObject, kind: 'Service' | 'Endpoints'): OwnerReference {
  const { name = '', uid = '' } = metadata;
  return { apiVersion: 'v1', kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Of the Endpoints that a user keeps for a Service without selector. */
function mirrors(slices: readonly KubeObject[], endpoints: KubeObject | undefined): Steps {
  const there = slices.filter((slice) => isMirrored(slice) && !isReflected(slice));
  const wanted = endpoints && isToMirror(endpoints) ? mirroredSlices(endpoints) : [];
  const steps: Steps = { create: [], update: [], remove: [] };
  for (const slice of wanted) {
    const old = there.find(({ metadata }) => metadata.name === slice.metadata.name);
    if (!old) steps.create.push(slice);
    else if (!isAs(old, slice)) steps.update.push({ old, wanted: over(old, slice) });
  }
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  steps.remove.push(...there.filter(({ metadata }) => !names.has(metadata.name)));
  return steps;
}

function isToMirror(endpoints: KubeObject): boolean {
  if (isReflected(endpoints) || endpoints.metadata.deletionTimestamp) return false;
  const { labels, annotations } = endpoints.metadata;
  if (labels?.[skipMirror] === 'true') return false;
  return annotations?.['control-plane.alpha.kubernetes.io/leader'] === undefined;
}

const notCopied = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'endpoints.kubernetes.io/last-change-trigger-time',
]);

type Annotations = Record<string, string>;

/** Ours speak of the object that they are on. */
function annotationsOf({ metadata }: KubeObject, ours: boolean): Annotations {
  const all = Object.entries(metadata.annotations ?? {});
  return Object.fromEntries(all.filter(([key]) => isOurs(key) === ours));
}

function mirroredSlices(endpoints: KubeObject): KubeObject[] {
  const { name: service = '', namespace = '', labels = {} } = endpoints.metadata;
  const own = Object.entries(annotationsOf(endpoints, false));
  const annotations: Annotations = Object.fromEntries(own.filter(([key]) => !notCopied.has(key)));
  return mirrorsOf(endpoints).map(({ addressType, ports, part, endpoints: list }) => {
    const slice = sliceOf({
      namespace,
      service,
      addressType,
      labels,
      part,
      managedBy: mirroringController,
      owner: ownerOf(endpoints, 'Endpoints'),
    });
    const metadata = { ...slice.metadata, ...(Object.keys(annotations).length > 0 && { annotations }) };
    return { ...slice, metadata, ports, endpoints: list };
  });
}

function isAs(old: KubeObject, wanted: KubeObject): boolean {
  return (
    deepEqual(listAt(old, 'endpoints'), wanted['endpoints']) &&
    deepEqual(listAt(old, 'ports'), wanted['ports']) &&
    deepEqual(old.metadata.labels, wanted.metadata.labels) &&
    deepEqual(annotationsOf(old, false), annotationsOf(wanted, false))
  );
}

function over(old: KubeObject, wanted: KubeObject): KubeObject {
  const annotations = { ...annotationsOf(old, true), ...annotationsOf(wanted, false) };
  const metadata = { ...old.metadata, labels: wanted.metadata.labels ?? {}, annotations };
  return { ...old, metadata, endpoints: wanted['endpoints'], ports: wanted['ports'] };
}
