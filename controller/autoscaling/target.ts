import type { Client } from '../../client/client.ts';
import { discoverVersion } from '../../client/discovery.ts';
import type { ResourceRef } from '../../client/url.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { parseQuantity, scaledQuantity } from '../../kube/quantity.ts';
import { isStatusError } from '../../kube/status.ts';
import { selectorText } from '../../kube/table/format.ts';
import { at, listAt, numberAt, textAt } from '../../kube/untyped.ts';
import type { AutoscalerSpec, Metric, Reading, Scale } from './types.ts';
import { selectorWords } from './words.ts';

export interface Where {
  cluster: string | undefined;
  namespace: string;
  signal: AbortSignal;
}

export interface Found {
  resource: ResourceRef;
  /** As it was read: what is written back is refused where another has scaled meanwhile. */
  object: KubeObject;
  scale: Scale;
  selector: string;
}

const pods: ResourceRef = { group: '', version: 'v1', resource: 'pods' };
export const externalGroup = 'external.metrics.k8s.io';
const fieldManager = 'kube-controller-manager';
const mostRaces = 4;

/** @param reader who knows what is served; `client` asks as the autoscaler's ServiceAccount. */
export async function scaleOf(
  reader: Client,
  client: Client,
  { scaleTargetRef }: AutoscalerSpec,
  { cluster, namespace, signal }: Where,
): Promise<Found> {
  const { kind, name, apiVersion = 'v1' } = scaleTargetRef;
  const gv = parseApiVersion(apiVersion);
  const served = await discoverVersion(reader, gv, { cluster, signal });
  const resource = served.find((one) => one.kind === kind);
  if (!resource) throw new Error(`no matches for kind "${kind}" in group "${gv.group}"`);
  const object = await client.get(resource, { cluster, namespace, name, subresource: 'scale' }, signal);
  const scale = {
    wanted: numberAt(object, 'spec', 'replicas') ?? 0,
    current: numberAt(object, 'status', 'replicas') ?? 0,
  };
  return { resource, object, scale, selector: textAt(object, 'status', 'selector') ?? '' };
}

/** Again where somebody else wrote the object meanwhile, its status say, as Kubernetes' own does. */
export async function writeScale(
  client: Client,
  { resource, object }: Found,
  replicas: number,
  { cluster, namespace, signal }: Where,
): Promise<void> {
  const options = { cluster, subresource: 'scale', fieldManager, signal };
  const target = { cluster, namespace, name: object.metadata.name ?? '', subresource: 'scale' };
  let latest = object;
  for (let left = mostRaces; ; left--) {
    try {
      const spec = { ...(latest.spec as object), replicas };
      await client.update(resource, { ...latest, spec }, options);
      return;
    } catch (error) {
      if (left === 0 || !isStatusError(error, 'Conflict')) throw error;
    }
    latest = await client.get(resource, target, signal);
  }
}

/** What the API server of that group says; why not, in words of Kubernetes' own controller. */
export async function read(
  client: Client,
  version: string,
  { external }: Metric,
  { cluster, namespace, signal }: Where,
): Promise<Reading> {
  const { name = '', selector } = external?.metric ?? {};
  const failed = (why: string): Reading => ({
    failure: `unable to get external metric ${namespace}/${name}/${selectorWords(selector)}: ${why}`,
  });
  try {
    const ref = { group: externalGroup, version, resource: name };
    const labelSelector = selector && selectorText(selector);
    const { items } = await client.list(ref, { cluster, namespace, labelSelector, signal });
    if (items.length === 0) return failed('no metrics returned from external metrics API');
    return { values: items.map((item) => scaledQuantity(parseQuantity(String(item['value'])), -3)) };
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    return failed(`unable to fetch metrics from external metrics API: ${why}`);
  }
}

export async function readyPods(
  client: Client,
  { selector }: Found,
  { cluster, namespace, signal }: Where,
): Promise<number | undefined> {
  const { items } = await client.list(pods, { cluster, namespace, labelSelector: selector, signal });
  return items.length === 0 ? undefined : items.filter(isReady).length;
}

function isReady(pod: KubeObject): boolean {
  if (textAt(pod, 'status', 'phase') !== 'Running') return false;
  return listAt(pod, 'status', 'conditions').some(
    (one) => at(one, 'type') === 'Ready' && at(one, 'status') === 'True',
  );
}
