import { kindNamed, type WorkloadKind } from '../../cluster/kinds.ts';
import { logicalClusterAnnotation, placements } from '../../cluster/names.ts';
import { isPlaceable } from '../../cluster/placeable.ts';
import { placementName } from '../../cluster/placement.ts';
import { reflectedFrom } from '../../cluster/reflected.ts';
import { clustersCell } from '../../cluster/summary.ts';
import type { Placement } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored } from '../registry/codec.ts';
import { objectKey } from '../registry/keys.ts';
import type { Form } from './negotiate.ts';

type Asked = Pick<ResourceExchange, 'core' | 'info' | 'served'>;

const placementsStored = { ...placements, namespaced: true };
const nowhere = '<none>';
/** So many are read at once: a Placement is larger than its row, and a list may have any number of these. */
const batch = 100;

/** Whether an answer says of each row on which physical clusters it is: Tables of workloads, where any are placed. */
export function saysClusters({ core, served }: Asked, form: Form): boolean {
  if (form.shape !== 'Table' || served.custom || workloadKind(served) === undefined) return false;
  const { group, resource } = placements;
  return core.catalog.common.some(({ info }) => info.group === group && info.resource === resource);
}

/**
 * The cells, as of now. A row costs one read by its key, from memory with every store, and none of what is reflected;
 * nothing of it is kept.
 */
export async function clustersOf(asked: Asked, objects: readonly KubeObject[]): Promise<string[]> {
  const kind = workloadKind(asked.served);
  const cells: string[] = [];
  for (let i = 0; kind !== undefined && i < objects.length; i += batch) {
    const some = objects.slice(i, i + batch).map((object) => cellOf(asked, kind, object));
    cells.push(...(await Promise.all(some)));
  }
  return cells;
}

function workloadKind({ info }: Asked['served']): WorkloadKind | undefined {
  const kind = kindNamed(info.kind);
  return kind?.role === 'workload' && kind.group === info.group ? kind : undefined;
}

async function cellOf({ core, info }: Asked, kind: WorkloadKind, object: KubeObject): Promise<string> {
  const from = reflectedFrom(object);
  if (from.length > 0) return from.join(',');
  if (!isPlaceable(kind, object)) return nowhere;
  const { namespace = '', name = '', uid, annotations } = object.metadata;
  const cluster = info.cluster === '*' ? (annotations?.[logicalClusterAnnotation] ?? '') : info.cluster;
  try {
    const key = objectKey(placementsStored, cluster, namespace, placementName({ ...kind, name }));
    const entry = await core.store.get(key);
    const placement = entry && (decodeStored(entry) as Placement);
    // One that is about a former object of this name says nothing of it.
    return placement?.spec?.ref.uid === uid ? clustersCell(placement as Placement) : nowhere;
  } catch {
    // Who asks for workloads gets them, though a record of where they are cannot be read.
    return '<unknown>';
  }
}
