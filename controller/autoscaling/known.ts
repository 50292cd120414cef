import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf, objectKey, parseKey, type ResourceRef } from '../../client/url.ts';
import { isOfCustom, scalesHere } from '../../cluster/placeable.ts';
import { deepEqual } from '../../kube/deep.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import { type ApiService, apiServices, targetOf } from '../aggregation/decide.ts';
import { customGroup, externalGroup, groupsOf, versionOf } from './own.ts';
import type { Autoscaler } from './types.ts';

export const autoscalers: ResourceRef = {
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
};

export interface Known {
  hpa: Autoscaler;
  /** Its target, or a metric of one of those that scale it, is in its logical cluster alone: it is carried out there. */
  isHere: boolean;
  /** All of its target, `<namespace>/<name>`. */
  scalers: string[];
  /** In which version an API of metrics is asked. */
  version(group: string): string;
}

export interface Fleet {
  ready: Promise<void>[];
  of(key: string): Known | undefined;
}

const byCluster = 'autoscaling/cluster';
const byTarget = 'autoscaling/target';

/** Autoscalers and the servers of their metrics, of all logical clusters. `wake` is told the key of each whom news concerns. */
export function follow(informers: InformerSet, wake: (key: string) => void): Fleet {
  const all = informers.for<Autoscaler>(autoscalers);
  const servers = informers.for<ApiService>(apiServices);
  all.addIndex(byCluster, (one) => (groupsOf(one).length > 0 ? [logicalClusterOf(one)] : []));
  all.addIndex(byTarget, (one) => [keyOfTarget(one)]);
  servers.addIndex(byCluster, (one) => (isOfMetrics(one) && targetOf(one) ? [logicalClusterOf(one)] : []));
  /** One of them may be why the others are carried out here; by `cpu` alone there are many whom nothing concerns. */
  const wakeOfTarget = (one: Autoscaler) => {
    const ofTarget = all.byIndex(byTarget, keyOfTarget(one));
    if ([one, ...ofTarget].some((other) => scalesHere(other) || mayScaleHere(other)))
      for (const other of ofTarget) wake(objectKey(other));
  };
  all.on({
    add: wakeOfTarget,
    update: (one, old) => {
      if (deepEqual(one.spec, old.spec) && scalesHere(one) === scalesHere(old)) return;
      wakeOfTarget(old);
      wakeOfTarget(one);
    },
    delete: (one, key) => {
      wake(key);
      wakeOfTarget(one);
    },
  });
  const wakeAll = (one: ApiService) => {
    if (!isOfMetrics(one)) return;
    for (const hpa of all.byIndex(byCluster, logicalClusterOf(one))) wakeOfTarget(hpa);
  };
  servers.on({
    add: wakeAll,
    update: (one, old) => void (!deepEqual(one.spec, old.spec) && wakeAll(one)),
    delete: wakeAll,
  });
  const of = (key: string): Known | undefined => {
    const hpa = all.get(key);
    if (!hpa || hpa.metadata.deletionTimestamp) return undefined;
    const { cluster, namespace } = parseKey(key);
    const ofTarget = all.byIndex(byTarget, keyOfTarget(hpa));
    const needed = new Set(ofTarget.flatMap(groupsOf));
    const served = servers.byIndex(byCluster, cluster).map(({ spec = {} }) => spec);
    const versions = (group: string) => served.filter((one) => one.group === group);
    return {
      hpa,
      isHere: isOfCustom(autoscalers, hpa) || [...needed].some((group) => versions(group).length > 0),
      scalers: ofTarget.map(({ metadata }) => `${namespace}/${metadata.name}`).sort(),
      version: (group) =>
        versionOf(
          group,
          versions(group).map(({ version = '' }) => version),
        ),
    };
  };
  return { ready: [all.synced, servers.synced], of };
}

const mayScaleHere = (hpa: Autoscaler) => isOfCustom(autoscalers, hpa) || groupsOf(hpa).length > 0;
const isOfMetrics = ({ spec }: ApiService) => spec?.group === externalGroup || spec?.group === customGroup;

function keyOfTarget(hpa: Autoscaler): string {
  const { apiVersion = 'v1', kind = '', name = '' } = hpa.spec?.scaleTargetRef ?? {};
  return JSON.stringify([
    logicalClusterOf(hpa),
    hpa.metadata.namespace,
    parseApiVersion(apiVersion).group,
    kind,
    name,
  ]);
}
