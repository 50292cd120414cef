import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf, parseKey, type ResourceRef } from '../../client/url.ts';
import { isOfCustom, scalesHere } from '../../cluster/placeable.ts';
import { deepEqual } from '../../kube/deep.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import { type ApiService, apiServices, targetOf } from '../aggregation/decide.ts';
import { customGroup, externalGroup, groupsOf, versionOf } from './own.ts';
import { Targets } from './targets.ts';
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
  /** Those of its target, `<namespace>/<name>`; where they are many, some and `and others`. */
  scalers: string[];
  /** In which version an API of metrics is asked. */
  version(group: string): string;
}

export interface Fleet {
  ready: Promise<void>[];
  of(key: string): Known | undefined;
}

const byGroup = 'autoscaling/group';
const byCluster = 'autoscaling/cluster';
/** Of one target there may be any number, and each says who they are. */
const mostNamed = 10;

/** Autoscalers and the servers of their metrics, of all logical clusters. `wake` is told the key of each whom news concerns. */
export function follow(informers: InformerSet, wake: (key: string) => void): Fleet {
  const all = informers.for<Autoscaler>(autoscalers);
  const servers = informers.for<ApiService>(apiServices);
  const targets = new Targets();
  const groupIn = (cluster: string, group: string) => JSON.stringify([cluster, group]);
  all.addIndex(byGroup, (one) => groupsOf(one).map((group) => groupIn(logicalClusterOf(one), group)));
  servers.addIndex(byCluster, (one) => (isOfMetrics(one) && targetOf(one) ? [logicalClusterOf(one)] : []));
  const wakeOf = (target: string) => {
    for (const key of targets.scalers(target)) wake(key);
  };
  /** One of them may be why the others are carried out here; by `cpu` alone there are many whom nothing concerns. */
  const note = (one: Autoscaler, key: string) => {
    const target = keyOfTarget(one);
    for (const changed of targets.set(key, { target, groups: groupsOf(one) })) wakeOf(changed);
    if (scalesHere(one) || isOfCustom(autoscalers, one) || targets.needs(target).size > 0) wake(key);
  };
  all.on({
    add: note,
    update: (one, old, key) => {
      if (!deepEqual(one.spec, old.spec) || scalesHere(one) !== scalesHere(old)) note(one, key);
    },
    delete: (_one, key) => {
      wake(key);
      for (const changed of targets.set(key, undefined)) wakeOf(changed);
    },
  });
  const wakeAll = (one: ApiService) => {
    if (!isOfMetrics(one)) return;
    const needing = all.byIndex(byGroup, groupIn(logicalClusterOf(one), one.spec?.group ?? ''));
    for (const target of new Set(needing.map(keyOfTarget))) wakeOf(target);
  };
  servers.on({
    add: wakeAll,
    update: (one, old) => void (!deepEqual(one.spec, old.spec) && wakeAll(one)),
    delete: wakeAll,
  });
  const of = (key: string): Known | undefined => {
    const hpa = all.get(key);
    if (!hpa || hpa.metadata.deletionTimestamp) return undefined;
    const { cluster } = parseKey(key);
    const target = keyOfTarget(hpa);
    const served = servers.byIndex(byCluster, cluster).map(({ spec = {} }) => spec);
    const versions = (group: string) => served.filter((one) => one.group === group);
    const needed = [...targets.needs(target).keys()];
    return {
      hpa,
      isHere: isOfCustom(autoscalers, hpa) || needed.some((group) => versions(group).length > 0),
      scalers: named(targets.scalers(target)),
      version: (group) =>
        versionOf(
          group,
          versions(group).map(({ version = '' }) => version),
        ),
    };
  };
  return { ready: [all.synced, servers.synced], of };
}

function named(keys: ReadonlySet<string>): string[] {
  const first: string[] = [];
  for (const key of keys) {
    if (first.length === mostNamed) return [...first.sort(), 'and others'];
    const { namespace, name } = parseKey(key);
    first.push(`${namespace}/${name}`);
  }
  return first.sort();
}

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
