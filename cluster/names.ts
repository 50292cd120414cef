/** The label- and annotation names that users may rely on, and those that are ours alone (`internal.`). */
export const group = 'atoll.dev';
export const version = 'v1alpha1';
export const apiVersion = 'atoll.dev/v1alpha1';

/** Comma-separated physical cluster names; on an object or on its Namespace. Absent: the scheduler decides. */
export const clustersAnnotation = 'atoll.dev/clusters';
/** On a workload, or on its Namespace: over which values of a label of physical clusters it is spread. See spreadIn. */
export const spreadAnnotation = 'atoll.dev/spread';
/** On a workload, or on its Namespace: `true` lets one physical cluster more take what has no room on the first. */
export const overflowAnnotation = 'atoll.dev/overflow';
/** On a workload, or on its Namespace: for how many seconds a copy that is to leave gets no new connections before its pods go. */
export const drainAnnotation = 'atoll.dev/drain-seconds';
/** On a workload, or on its Namespace: for how many seconds it waits for what moves with it before it goes alone. */
export const waitAnnotation = 'atoll.dev/wait-seconds';
/** On a workload, or on its Namespace: `true` stops its move where it is; nothing more leaves. */
export const pausedAnnotation = 'atoll.dev/paused';
/** On a workload, its Namespace, or a claim: what becomes of the data of claims that hold some when it is to move. See Volumes. */
export const volumesAnnotation = 'atoll.dev/volumes';
/** The key of a toleration, in a policy, of a physical cluster that nothing is heard of. No cluster bears it as a taint. */
export const unreachableTaint = 'atoll.dev/unreachable';
/** Who wrote clustersAnnotation: a user's name, or schedulerUser. Stamped by admission. */
export const placedByAnnotation = 'atoll.dev/placed-by';
export const schedulerUser = 'system:atoll:scheduler';
/** On a workload: what those said who were asked about the pods of its template. See cluster/pod-admission.ts. */
export const podAdmissionAnnotation = 'atoll.dev/pod-admission';
/** On a ReplicaSet or ControllerRevision of a template that is refused: nothing is made of it. See cluster/refused-revision.ts. */
export const refusedRevisionAnnotation = 'atoll.dev/refused';
/** On a HorizontalPodAutoscaler that is carried out in its logical cluster, and so is not placed. See decisions/0067. */
export const scalesHereAnnotation = 'atoll.dev/scales-here';
/** In a request of our own controllers: an API server of a logical cluster is asked though it be unavailable. */
export const checkHeader = 'x-atoll-availability-check';
/** In one that asks what is served: what API servers of the logical cluster serve, too, which our controllers are not told otherwise. */
export const othersHeader = 'x-atoll-other-servers';
/** Who makes and removes logical clusters, among others. */
export const controllersUser = 'system:atoll:controllers';
export const splitterUser = 'system:atoll:splitter';
/** Who reads how physical clusters are reached. */
export const syncerManagerUser = 'system:atoll:syncer-manager';
/** A serving process, which waits until they are. */
export const servingUser = 'system:atoll:serving';

/** On everything we create on a physical cluster: JSON of a Locator. It alone proves ownership. */
export const locatorAnnotation = 'atoll.dev/locator';
/** The same on a ReplicaSet: the controller of a Deployment that adopts it writes that one's annotations over its own. */
export const setLocatorAnnotation = 'atoll.dev/replicaset-locator';
/** On a physical workload that an autoscaler there scales: which setting of its replicas was the last (Share.scaled). */
export const scaledAnnotation = 'atoll.dev/scaled';
/** On a namespace there: which logical cluster it is of. See markOf. */
export const logicalClusterLabel = 'atoll.dev/logical-cluster';
/** On a namespace there: what the Namespace is called in its logical cluster. */
export const logicalNamespaceLabel = 'atoll.dev/namespace';
/** On a namespace there: which of its labels under other names than ours we put there, as `key=value`, comma-separated. */
export const labelledAnnotation = 'atoll.dev/labelled';
/**
 * In the selector of a Service there that is withdrawn: a label that no pod bears. As an annotation: on the slices that stand
 * in for its own the locator that it bears; on itself, while it comes back.
 */
export const withdrawnLabel = 'atoll.dev/withdrawn';
/** On what this Atoll knew nothing of any more, once it was put back from a backup: the locator that it bore. It is nobody's. */
export const letGoAnnotation = 'atoll.dev/let-go';
/** On the same objects, so that one labelled watch finds them. */
export const managedLabel = 'atoll.dev/managed-by';
export const managedValue = 'atoll';
/** On what an orphaned workload left behind on a physical cluster: the locator that the workload bore. */
export const orphanOfAnnotation = 'atoll.dev/orphan-of';
/** On a pod there that its workload's controller let go, since its labels match no more: the locator that the workload bore; or that of the owner for which it stayed. */
export const releasedByAnnotation = 'atoll.dev/released-by';
/** On a pod there: owners that control nothing, which somebody gave it in its logical cluster. See given-owners.ts. */
export const givenOwnersAnnotation = 'atoll.dev/given-owners';
/** On a placed Pod whose controller is a workload that adopted it on its cluster: the Pod's own uid. */
export const adoptedAnnotation = 'internal.atoll.dev/adopted';
/** On a claim that a StatefulSet's controller made on a physical cluster: the locator that the set bore. */
export const claimOfAnnotation = 'atoll.dev/claim-of';
/** On a StatefulSet on a physical cluster: `Delete` where its claims are to go when the set is deleted, not moved. */
export const claimsAnnotation = 'atoll.dev/claims-when-deleted';
/** On a Secret on a physical cluster with the token of a logical cluster's ServiceAccount; when another is due; of which authority its certificate is. */
export const accountTokenLabel = 'atoll.dev/account-token';
export const renewAfterAnnotation = 'atoll.dev/renew-after';
export const authorityAnnotation = 'atoll.dev/authority';
/**
 * On a reflected object in a logical cluster: the physical cluster that has it; on one that stands for several of
 * the same name (see sharedReflections): all of them, comma-separated.
 */
export const reflectedFromAnnotation = 'atoll.dev/physical-cluster';
/** On the latter: JSON of what each cluster said of its own. */
export const reflectedPartsAnnotation = 'internal.atoll.dev/parts';
/** On the latter: JSON of which object each cluster has of it. See apiserver/view/sources.ts. */
export const sourcesAnnotation = 'internal.atoll.dev/sources';
/** On both: the object's own uid, without which the three above say nothing. See reflectedFrom. */
export const reflectedUidAnnotation = 'internal.atoll.dev/reflected-uid';
/** On both: the object's own uid, once no physical cluster has it any more. See isHeld. */
export const heldAnnotation = 'internal.atoll.dev/held';
/** On both: JSON of what a cluster had said under names of labels and annotations that were changed here. See cluster/given.ts. */
export const givenAnnotation = 'internal.atoll.dev/given';
/** On a reflected EndpointSlice: the digest of what its physical cluster said of its endpoints. See cluster/peers.ts. */
export const reportedAnnotation = 'internal.atoll.dev/reported';
/** On a Namespace: where what is placed in it goes on every physical cluster. Of one that older versions made only. */
export const physicalNamespaceAnnotation = 'internal.atoll.dev/physical-namespace';
/** On every object of a wildcard list or watch: the id of the logical cluster it is in (kcp's name for it). */
export const logicalClusterAnnotation = 'kcp.io/cluster';

/** On a Placement until its last share is gone, so that a deleted Namespace waits for its clusters. */
export const placementFinalizer = 'atoll.dev/shares';

export const rootCluster = 'root';
/** Who issues the tokens of root's accounts where no setting says it, and whom all are for unless they say so. */
export const defaultIssuer = 'https://kubernetes.default.svc';
/** Where physical clusters' credentials live, in the root logical cluster. */
export const systemNamespace = 'atoll-system';

/** Nothing in these is ever placed, whoever asks: they hold the system's own, credentials among it. */
export function isSystemNamespace(name: string): boolean {
  return name === systemNamespace || name.startsWith('kube-');
}

const path = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

export const longestPath = 253;

/** A path of DNS labels joined by `:`, at most 253 characters: `root`, `root:team-a`; or an id, which is one label. */
export function isLogicalClusterName(name: string): boolean {
  return name.length <= longestPath && path.test(name);
}

/** Namespaced, beside the object it is about. */
export const placements = { group, version, resource: 'placements' } as const;
/** Namespaced, beside the claim that each is about, and of its name. */
export const volumeCopies = { group, version, resource: 'volumecopies' } as const;
/** Cluster-scoped, in the root logical cluster. */
export const physicalClusters = { group, version, resource: 'physicalclusters' } as const;
/** In the logical cluster above the one that each makes. Of kcp, as the next. */
export const workspaces = { group: 'tenancy.kcp.io', version, resource: 'workspaces' } as const;
/** One, named `cluster`, in each logical cluster but root. */
export const logicalClusters = { group: 'core.kcp.io', version, resource: 'logicalclusters' } as const;
/** On a Workspace, and on its LogicalCluster: it is emptied before they go. */
export const logicalClusterFinalizer = 'core.kcp.io/logicalcluster';
/** On a Workspace: JSON of the UserInfo of who made it, to whom the first binding in it is. Stamped by admission; kcp's name. */
export const ownerAnnotation = 'experimental.tenancy.kcp.io/owner';

/** A physical cluster's Secret in the system namespace, with how to reach it: `atoll cluster add` writes it. */
export const secrets = { group: '', version: 'v1', resource: 'secrets' };
export const credentialsOf = (cluster: string): string => `physicalcluster-${cluster}`;

/** The last of a PhysicalCluster's status.serves where it serves more than is told. */
export const moreServed = '*';

/** Of the Leases in root's kube-system by which servers on one store know each other. */
export const serverLabel = 'atoll.dev/server';

export function isServerName(name: string): boolean {
  return /^atoll-[0-9a-f-]{36}$/.test(name);
}
