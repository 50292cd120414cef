import type { Client } from '../../client/client.ts';
import { discoverVersion } from '../../client/discovery.ts';
import { decode, failIfNotOk } from '../../client/exchange.ts';
import { pathOf, queryOf, type ResourceRef } from '../../client/url.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { parseQuantity, scaledQuantity } from '../../kube/quantity.ts';
import { isStatusError } from '../../kube/status.ts';
import { selectorText } from '../../kube/table/format.ts';
import { at, listAt, numberAt, textAt } from '../../kube/untyped.ts';
import { eachItem } from '../aggregation/list.ts';
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
/** Of what an API server of the logical cluster's own answers: of metrics, and of one object, as much as a store of Kubernetes takes. */
const mostMetricBytes = 1 << 20;
const mostScaleBytes = 1536 << 10;
/** Of why it does not. */
const mostSaid = 1000;
const mostValue = 2n ** 63n - 1n;

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
  const path = pathOf(resource, { namespace, name, subresource: 'scale' });
  const object = (await client.json(path, { cluster, signal, maxBytes: mostScaleBytes })) as KubeObject;
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
  const path = pathOf(resource, { namespace, name: object.metadata.name ?? '', subresource: 'scale' });
  let latest = object;
  for (let left = mostRaces; ; left--) {
    const body = { ...latest, spec: { ...(latest.spec as object), replicas } };
    const put = { method: 'PUT', path: path + queryOf({ fieldManager }), cluster, body, signal } as const;
    try {
      const response = await client.raw(put);
      await failIfNotOk(response);
      await decode(response, mostScaleBytes);
      return;
    } catch (error) {
      if (left === 0 || !isStatusError(error, 'Conflict')) throw error;
    }
    latest = (await client.json(path, { cluster, signal, maxBytes: mostScaleBytes })) as KubeObject;
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
  // In lower case, as Kubernetes' client has all resources: roles and adapters know metrics by that.
  const path =
    pathOf({ group: externalGroup, version, resource: name.toLowerCase() }, { namespace }) +
    queryOf({ labelSelector: selector && selectorText(selector) });
  const values: bigint[] = [];
  const see = (item: unknown) => void values.push(thousandthsOf(item));
  try {
    await eachItem(client, path, { cluster, signal, most: mostMetricBytes }, see);
  } catch (error) {
    signal.throwIfAborted();
    return failed(`unable to fetch metrics from external metrics API: ${whyOf(error)}`);
  }
  return values.length > 0 ? { values } : failed('no metrics returned from external metrics API');
}

/** In thousandths, as many as Kubernetes counts. */
function thousandthsOf(item: unknown): bigint {
  const value = scaledQuantity(parseQuantity(String(at(item, 'value'))), -3);
  return value > mostValue ? mostValue : value < -mostValue ? -mostValue : value;
}

/** An API server of somebody's own may say anything, which is stored with the autoscaler. */
export function whyOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, mostSaid);
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
