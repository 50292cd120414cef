import { isEnding } from '../../cluster/deletion.ts';
import { placedKind } from '../../cluster/kinds.ts';
import { apiVersion, logicalClusterAnnotation } from '../../cluster/names.ts';
import { isPlaceable } from '../../cluster/placeable.ts';
import { physicalNamespace } from '../../cluster/placement.ts';
import { type PodAccess, usesSecret } from '../../cluster/pod-access.ts';
import { isHeldBack } from '../../cluster/pod-admission.ts';
import { podSpecOf } from '../../cluster/pod-spec.ts';
import { startsBeside } from '../../cluster/renewed.ts';
import { shapeRuled } from '../../cluster/ruled-shape.ts';
import { shapeFor } from '../../cluster/shape.ts';
import { toldShare } from '../../cluster/share.ts';
import type { Locator, ObjectRef, Placement, Share, ShareView, ShareViewSpec } from '../../cluster/types.ts';
import { groupResource } from '../../kube/gvk.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { getOwn } from '../../kube/untyped.ts';

/** Whose view: `uid` is the PhysicalCluster's, and goes into every locator. */
export interface Viewer {
  cluster: string;
  uid: string;
}

export interface JoinInput {
  viewer: Viewer;
  logical: string;
  placement: Placement;
  /** The object that the placement names; undefined when there is none. */
  root: KubeObject | undefined;
  /** How its pods reach their logical cluster; absent: they do not. */
  access?: PodAccess | undefined;
  revision: number;
}

/**
 * One item of the shares list, without what its cluster says of it. Undefined when the cluster has no share of it, or of a kind that is never pushed,
 * whatever the Placement says. The manifest is absent while Leaving, when the root object is gone or was made anew
 * (then another uid is there), of an object that may not be pushed, and of a workload whose pods are refused.
 */
export function joinShare({
  viewer,
  logical,
  placement,
  root,
  access,
  revision,
}: JoinInput): ShareView | undefined {
  const { ref, shares, requires = [], orphaned, namespaceUid = '', namespaceLabels } = placement.spec ?? {};
  const stored = shares && getOwn(shares, viewer.cluster);
  const share = stored && heeded(stored);
  const kind = ref && placedKind(ref);
  if (!ref || !kind || !share) return undefined;
  const { name = '', namespace = '', uid = '', creationTimestamp } = placement.metadata;
  const target = placement.spec?.physicalNamespace ?? physicalNamespace(logical, namespace);
  const isMeant = share.phase !== 'Leaving' && root?.metadata.uid === ref.uid;
  const wanted = isMeant && isPlaceable(kind, root) && !isHeldBack(root) ? root : undefined;
  const locator: Locator = {
    syncer: viewer.uid,
    cluster: logical,
    namespace,
    resource: groupResource(ref),
    name: ref.name,
    uid: ref.uid,
  };
  const shape = { physicalNamespace: target, locator, access };
  const manifest =
    wanted && (kind.rule ? shapeRuled(wanted, ref, share, shape) : shapeFor(wanted, share, shape));
  return {
    kind: 'Share',
    apiVersion,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: String(revision),
      ...(creationTimestamp && { creationTimestamp }),
      annotations: { [logicalClusterAnnotation]: logical },
    },
    spec: {
      ref,
      phase: share.phase,
      share: toldShare(share),
      generation: root?.metadata.generation ?? 0,
      requires,
      ...(orphaned !== undefined && !share.surplus && !share.former && { orphaned }),
      ...(isMoved(share, ref, root) && { moved: true }),
      ...(isRenewed(share, placement, root) && { renewed: true }),
      ...(manifest &&
        access &&
        usesSecret(podSpecOf(manifest, ref.rule), access) && {
          account: accountIn(access),
        }),
      ...(manifest && { manifest }),
      physicalNamespace: target,
      namespaceUid,
      ...(namespaceLabels && { namespaceLabels }),
      locator,
    },
  };
}

function accountIn({ account: name, uid, authority, secret }: PodAccess): ShareViewSpec['account'] & object {
  return { name, uid, authority, secret };
}

function isRenewed(share: Share, { spec }: Placement, root: KubeObject | undefined): boolean {
  if (!spec || share.phase !== 'Leaving' || !root || isEnding(root) || !startsBeside(spec.ref)) return false;
  if (share.anew && root.metadata.uid === spec.ref.uid) return true;
  return share.former === true || (spec.orphaned === undefined && root.metadata.uid !== spec.ref.uid);
}

function isMoved(share: Share, { uid }: ObjectRef, root: KubeObject | undefined): boolean {
  if (share.phase !== 'Leaving' || share.former || root?.metadata.uid !== uid) return false;
  return !isEnding(root);
}

/**
 * Two views with the same essence are the same to a syncer: its own slice and revisions are not in it, nor since when it is asked for a
 * word, which is told apart.
 */
export function essence({ metadata, spec }: ShareView): string {
  const { readySince: _ready, heardSince: _heard, ...share } = spec?.share ?? {};
  return encodeJson([metadata.uid, { ...spec, share }]);
}

/** Of its phases a syncer goes by one, that it leaves: whether others count on it by now is no news there. */
export function heeded(share: Share): Share {
  return share.phase === 'Leaving' ? share : { ...share, phase: 'Active' };
}
