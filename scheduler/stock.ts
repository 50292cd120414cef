import { keyOf, parseKey } from '../client/url.ts';
import { isFinished } from '../cluster/kinds.ts';
import type { Placement } from '../cluster/types.ts';
import { shownAs } from '../controller/ruled.ts';
import type { KubeObject } from '../kube/object.ts';
import { inTurn, isHeard } from './turns.ts';
import { addUsage, settledUsage, type Usage, usageOf } from './usage.ts';
import { clusterNamed, namespaceKey, type World } from './world.ts';

/** Before the first decision: what is placed already, lest the first namespaces think that all is free. */
export function takeStock(world: World): void {
  const uids = new Map<string, KubeObject>();
  for (const [kind, informer] of world.objects) {
    if (kind.role !== 'workload') continue;
    for (const object of informer.values()) uids.set(object.metadata.uid ?? '', object);
  }
  for (const placement of world.placements.values()) {
    const object = ruledOf(world, placement);
    if (object) uids.set(object.metadata.uid ?? '', object);
  }
  const usage = new Map<string, Usage>();
  const settled = new Map<string, Usage>();
  const leaving = new Map<string, Map<string, number>>();
  const now = Date.now();
  for (const placement of world.placements.values()) {
    const workload = uids.get(placement.spec?.ref.uid ?? '');
    if (!workload) continue;
    const key = namespaceKey(placement);
    const { clusters = [], spread } = placement.spec ?? {};
    addTo(usage, key, usageOf(workload, placement));
    addTo(settled, key, settledUsage(workload, placement, { clusters, spread }));
    if (isFinished(workload)) continue;
    const counts = leaving.get(key) ?? new Map<string, number>();
    for (const name of inTurn(placement, (name) => isHeard(clusterNamed(world, name)), now))
      counts.set(name, (counts.get(name) ?? 0) + 1);
    leaving.set(key, counts);
  }
  for (const [key, counts] of leaving) world.leavers.set(key, counts);
  for (const [key, own] of usage) world.ledger.set(key, own);
  for (const [key, own] of settled) world.settled.set(key, own);
}

function addTo(usage: Map<string, Usage>, key: string, more: Usage): void {
  const own = usage.get(key) ?? new Map();
  addUsage(own, more);
  usage.set(key, own);
}

function ruledOf({ ruled }: World, placement: Placement): KubeObject | undefined {
  const { ref } = placement.spec ?? {};
  if (!ref?.rule) return undefined;
  const { cluster, name: namespace } = parseKey(namespaceKey(placement));
  const object = ruled.of(ref)?.get(keyOf(cluster, namespace, ref.name));
  return object && shownAs(object, ref);
}
