import { objectKey, type ResourceRef } from '../../../client/url.ts';
import { refKey } from '../../../cluster/closure.ts';
import type { Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { consider } from '../../../scheduler/consider.ts';
import { worldOf } from '../../../scheduler/copy.ts';
import { takeStock } from '../../../scheduler/stock.ts';
import type { NamespaceDecision } from '../../../scheduler/types.ts';

/** All objects by resource, as a store has them, to which decisions are applied as the API server would. */
export class Stored {
  readonly lists = new Map<string, KubeObject[]>();

  list(resource: string): KubeObject[] {
    return this.lists.get(resource) ?? [];
  }

  put(resource: string, object: KubeObject): void {
    const rest = this.list(resource).filter((one) => objectKey(one) !== objectKey(object));
    this.lists.set(resource, [...rest, object]);
  }

  of = ({ resource }: ResourceRef) => this.list(resource);

  apply(decision: NamespaceDecision, key: string): boolean {
    const gone = new Set<KubeObject>(decision.remove);
    this.lists.set(
      'placements',
      this.list('placements').filter((one) => !gone.has(one)),
    );
    for (const placement of decision.create) {
      const annotations = { 'kcp.io/cluster': key.split('/')[0] ?? '' };
      this.put('placements', { ...placement, metadata: { ...placement.metadata, annotations } });
    }
    for (const { wanted } of decision.update) this.put('placements', wanted);
    for (const { placed, clusters } of decision.annotate) {
      const { metadata } = placed.object;
      const {
        'atoll.dev/clusters': _where,
        'atoll.dev/placed-by': _who,
        ...rest
      } = metadata.annotations ?? {};
      const note = clusters !== undefined && {
        'atoll.dev/clusters': clusters,
        'atoll.dev/placed-by': 'system:atoll:scheduler',
      };
      const annotations = { ...rest, ...note };
      this.put(placed.kind.resource, { ...placed.object, metadata: { ...metadata, annotations } });
    }
    const { create, update, remove, annotate } = decision;
    return [create, update, remove, annotate].some((list) => list.length > 0);
  }

  /** As the scheduler does it, Namespace by Namespace, until nothing is left to do. */
  decide(): void {
    for (let round = 0, changed = true; changed; round++) {
      if (round > 10) throw new Error('it never ends');
      changed = false;
      const world = worldOf(this.of);
      takeStock(world);
      const keys = this.list('namespaces').map(objectKey).sort();
      for (const key of keys) changed = this.apply(consider(key, world), key) || changed;
    }
  }

  /** As the splitter does once all has settled. */
  settle(): void {
    for (const one of this.list('placements') as Placement[]) {
      const { clusters = [] } = one.spec ?? {};
      const shares = Object.fromEntries(
        clusters.map((c): [string, Share] => [c, { phase: 'Active', replicas: 1 }]),
      );
      if (one.spec) this.put('placements', { ...one, spec: { ...one.spec, shares } } as KubeObject);
    }
  }

  where(): Map<string, string> {
    return new Map(
      (this.list('placements') as Placement[]).flatMap((one): [string, string][] =>
        one.spec
          ? [
              [
                `${objectKey(one).split('/').slice(0, 2).join('/')}/${refKey(one.spec.ref)}`,
                one.spec.clusters.join(),
              ],
            ]
          : [],
      ),
    );
  }
}
