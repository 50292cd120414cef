import type { Client } from '../../client/client.ts';
import { pathOf, queryOf } from '../../client/url.ts';
import { podMetrics } from '../../cluster/pod-metrics.ts';
import { parseDuration } from '../../kube/duration.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import { selectorText } from '../../kube/table/format.ts';
import { at, numberAt, records, textAt } from '../../kube/untyped.ts';
import { eachItem } from '../aggregation/list.ts';
import { customGroup, externalGroup } from './own.ts';
import { resourceOf, type Where, whyOf } from './target.ts';
import { thousandths } from './thousandths.ts';
import type { Metric, MetricName, Reading, Sample } from './types.ts';

export interface Reader {
  /** Who knows what is served. */
  reader: Client;
  /** Asks as the autoscaler's ServiceAccount. */
  client: Client;
  /** Of an API of metrics by its group. */
  version(group: string): string;
  /** Which pods are the target's own. */
  selector: string;
  where: Where;
}

/** Of what an API server of the logical cluster's own answers: a value or a few, and what each of many pods uses. */
const mostMetricBytes = 1 << 20;
const mostSamplesBytes = 8 << 20;
/** Of one autoscaler, values and samples: ten metrics of ten thousand pods. */
const mostKept = 100_000;
const tooMany = { failure: `its metrics before this one had more than ${mostKept} values` };
const defaultWindowMs = 60_000;

/**
 * What the APIs of those metrics say, one after the other as Kubernetes does: there may be any number, each of whose answers is as
 * long as it likes, and all are kept until they are counted.
 */
export async function readAll(from: Reader, metrics: readonly Metric[]): Promise<Reading[]> {
  const readings: Reading[] = [];
  let kept = 0;
  for (const metric of metrics) {
    const reading = kept > mostKept ? tooMany : await read(from, metric);
    if ('values' in reading) kept += reading.values.length;
    if ('samples' in reading) kept += reading.samples.size;
    readings.push(reading);
  }
  return readings;
}

/** What the API of that metric says; why not, in words of Kubernetes' own clients. */
async function read(from: Reader, metric: Metric): Promise<Reading> {
  const { external, object, pods, resource, containerResource } = metric;
  if (external) return await ofExternal(from, external.metric);
  if (object) return await ofObject(from, object);
  if (pods) return await ofPods(from, pods.metric);
  const of = resource ?? containerResource;
  return await ofResource(from, of?.name ?? '', containerResource?.container);
}

async function ofExternal(from: Reader, { name, selector }: MetricName): Promise<Reading> {
  // In lower case, as Kubernetes' client has all resources: roles and adapters know metrics by that.
  const resource = {
    group: externalGroup,
    version: from.version(externalGroup),
    resource: name.toLowerCase(),
  };
  const path =
    pathOf(resource, { namespace: from.where.namespace }) + queryOf({ labelSelector: words(selector) });
  return await valuesOf(from, 'external', path);
}

async function ofObject(
  from: Reader,
  { metric, describedObject }: NonNullable<Metric['object']>,
): Promise<Reading> {
  const { namespace } = from.where;
  const api = { group: customGroup, version: from.version(customGroup) };
  const query = queryOf({ metricLabelSelector: words(metric.selector) });
  const { apiVersion = 'v1', kind, name } = describedObject;
  let path: string;
  if (kind === 'Namespace' && apiVersion === 'v1')
    path = pathOf({ ...api, resource: 'metrics' }, { namespace, name: metric.name });
  else
    try {
      const { resource, group } = await resourceOf(from.reader, describedObject, from.where);
      const qualified = group === '' ? resource : `${resource}.${group}`;
      path = pathOf({ ...api, resource: qualified }, { namespace, name, subresource: metric.name });
    } catch (error) {
      from.where.signal.throwIfAborted();
      const { group } = parseApiVersion(apiVersion);
      const what = group === '' ? kind : `${kind}.${group}`;
      return unable('custom', `unable to map kind ${what} to resource: ${whyOf(error)}`);
    }
  const reading = await valuesOf(from, 'custom', path + query);
  if (!('values' in reading) || reading.values.length === 1) return reading;
  const many = `the custom metrics API server returned ${reading.values.length} results when we asked for exactly one`;
  return unable('custom', many);
}

async function ofPods(from: Reader, { name, selector }: MetricName): Promise<Reading> {
  const resource = { group: customGroup, version: from.version(customGroup), resource: 'pods' };
  const { namespace } = from.where;
  const path =
    pathOf(resource, { namespace, name: '*', subresource: name }) +
    queryOf({ labelSelector: from.selector, metricLabelSelector: words(selector) });
  return await samplesOf(from, 'custom', path, (item) => {
    const seconds = numberAt(item, 'windowSeconds') ?? numberAt(item, 'window');
    const windowMs = seconds === undefined ? defaultWindowMs : seconds * 1000;
    return [textAt(item, 'describedObject', 'name') ?? '', sampleOf(item, thousandthsOf(item), windowMs)];
  });
}

async function ofResource(from: Reader, resource: string, container?: string): Promise<Reading> {
  const path =
    pathOf(podMetrics, { namespace: from.where.namespace }) + queryOf({ labelSelector: from.selector });
  return await samplesOf(from, 'resource', path, (item) => {
    const all = records(at(item, 'containers'));
    const counted = container === undefined ? all : all.filter(({ name }) => name === container);
    const used = counted.map(({ usage }) => at(usage, resource));
    // One of which nothing is known leaves its pod unknown.
    if (used.length === 0 || used.includes(undefined)) return undefined;
    const value = used.reduce((sum: bigint, one) => sum + thousandths(String(one)), 0n);
    const windowMs = parseDuration(textAt(item, 'window') ?? '0');
    return [textAt(item, 'metadata', 'name') ?? '', sampleOf(item, value, windowMs)];
  });
}

async function valuesOf(from: Reader, api: Api, path: string): Promise<Reading> {
  const values: bigint[] = [];
  const failure = await seen(from, { api, path, most: mostMetricBytes }, (item) =>
    values.push(thousandthsOf(item)),
  );
  return failure ?? (values.length > 0 || api === 'custom' ? { values } : none(api));
}

async function samplesOf(
  from: Reader,
  api: Api,
  path: string,
  read: (item: unknown) => [string, Sample] | undefined,
): Promise<Reading> {
  const samples = new Map<string, Sample>();
  let items = 0;
  const failure = await seen(from, { api, path, most: mostSamplesBytes }, (item) => {
    items++;
    const sample = read(item);
    if (sample) samples.set(...sample);
  });
  return failure ?? (items > 0 ? { samples } : none(api));
}

type Api = 'external' | 'custom' | 'resource';
const unable = (api: Api, why: string) => ({
  failure: `unable to fetch metrics from ${api} metrics API: ${why}`,
});
const none = (api: Api) => ({ failure: `no metrics returned from ${api} metrics API` });

/** Resolves with why not all of it was seen. */
async function seen(
  { client, where: { cluster, signal } }: Reader,
  { api, path, most }: { api: Api; path: string; most: number },
  see: (item: unknown) => void,
): Promise<{ failure: string } | undefined> {
  try {
    await eachItem(client, path, { cluster, signal, most }, see);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return unable(api, whyOf(error));
  }
}

const words = (selector: LabelSelector | undefined) => selector && selectorText(selector);

function sampleOf(item: unknown, value: bigint, windowMs: number): Sample {
  return { value, windowMs, at: Date.parse(textAt(item, 'timestamp') ?? '') };
}

const thousandthsOf = (item: unknown) => thousandths(String(at(item, 'value')));
