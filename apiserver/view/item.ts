import type { Placement, Share, ShareView } from '../../cluster/types.ts';
import { encodeJson } from '../../kube/json.ts';
import { heeded } from './join.ts';
import type { ShareEvent } from './told-beside.ts';

/** One share that the cluster has: the placement as it was last seen, and the key of the object it names. */
export interface Item {
  key: string;
  placement: Placement;
  /** What of the placement matters to this cluster. */
  part: string;
  rootKey: string;
  /** Shared by all versions of one item, since what is told lags behind what is taken. */
  told: Told;
}

/** Empty until something was told. */
interface Told {
  digest?: string;
  /** Since when it was asked for a word, last. */
  asked?: number;
  /** Without its manifest: what a DELETED event shows. */
  last?: ShareView;
}

/** What of the placement matters to the cluster that has this share of it. */
export function partOf({ metadata, spec }: Placement, share: Share): string {
  const home = [spec?.physicalNamespace, spec?.namespaceUid, spec?.namespaceLabels];
  return encodeJson([metadata.uid, spec?.ref, spec?.requires, spec?.orphaned, heeded(share), home]);
}

/** The last that is told of it. */
export function gone({ told: { last } }: Pick<Item, 'told'>, revision: number): ShareEvent[] {
  if (!last) return [];
  const metadata = { ...last.metadata, resourceVersion: String(revision) };
  return [{ type: 'DELETED', object: { ...last, metadata } }];
}
