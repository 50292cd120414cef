import type { DiscoveredResource } from '../../client/discovery.ts';
import { isClaimRef } from '../../cluster/claims.ts';
import { isHeld, isReflected } from '../../cluster/reflected.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** What the collector needs of an object. `cluster` is undefined on a plain Kubernetes. */
export interface Node {
  uid: string;
  /** As it was listed: of all logical clusters in one version, which need not be served in its own. */
  resource: DiscoveredResource;
  kind: string;
  cluster: string | undefined;
  namespace: string;
  name: string;
  owners: readonly OwnerReference[];
  finalizers: readonly string[];
  deleting: boolean;
  /** A physical object's record: its owners wait for it, and it is kept or deleted where it runs. */
  reflected: boolean;
}

const noOwners: readonly OwnerReference[] = [];
const noFinalizers: readonly string[] = [];

export function nodeOf(resource: DiscoveredResource, object: KubeObject, cluster: string | undefined): Node {
  const { metadata } = object;
  return {
    uid: metadata.uid ?? '',
    resource,
    // Items of a list of a built-in kind do not say it.
    kind: object.kind || resource.kind,
    cluster,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    owners: metadata.ownerReferences ?? noOwners,
    finalizers: metadata.finalizers ?? noFinalizers,
    deleting: metadata.deletionTimestamp !== undefined,
    reflected: isReflected(object) && !isHeld(object) && !isOwnedHere(resource, object),
  };
}

/** A claim with an owner that is no StatefulSet, with which its own go where they are: whose it is, its logical cluster says. */
function isOwnedHere(resource: DiscoveredResource, { metadata }: KubeObject): boolean {
  const isSet = ({ apiVersion, kind }: OwnerReference) =>
    apiVersion.startsWith('apps/') && kind === 'StatefulSet';
  return isClaimRef(resource) && !(metadata.ownerReferences ?? []).every(isSet);
}

/** Being deleted after its dependents. */
export function waitsForDependents(node: Node): boolean {
  return node.deleting && node.finalizers.includes(foregroundFinalizer);
}

/** The number bounds memory, not truth: an end that is forgotten is found again. */
const rememberedEnds = 10_000;

/** Objects by uid, and who depends on whom: also on owners that are not (or not yet) known. */
export class Graph {
  readonly #nodes = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #ended = new Set<string>();

  /** It was seen to end, by those who watched it. Uids never return. */
  hasEnded(uid: string): boolean {
    return this.#ended.has(uid);
  }

  end(uid: string): Node | undefined {
    this.#ended.add(uid);
    if (this.#ended.size > rememberedEnds)
      for (const oldest of this.#ended) {
        this.#ended.delete(oldest);
        break;
      }
    return this.remove(uid);
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  /** Those of its own logical cluster, where it is known: whoever serves it may have given it any uid. */
  dependents(uid: string): Node[] {
    const owner = this.#nodes.get(uid);
    const all = [...(this.#dependents.get(uid) ?? [])].flatMap((one) => this.#nodes.get(one) ?? []);
    return owner ? all.filter(({ cluster }) => cluster === owner.cluster) : all;
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid);
  }

  /** Answers the node as it was before. */
  put(node: Node): Node | undefined {
    const old = this.remove(node.uid);
    this.#ended.delete(node.uid);
    this.#nodes.set(node.uid, node);
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid);
      if (dependents) dependents.add(node.uid);
      else this.#dependents.set(uid, new Set([node.uid]));
    }
    return old;
  }

  remove(uid: string): Node | undefined {
    const old = this.#nodes.get(uid);
    if (!old) return undefined;
    this.#nodes.delete(uid);
    for (const owner of old.owners) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
    return old;
  }

  *of(resource: DiscoveredResource): Iterable<Node> {
    for (const node of this.#nodes.values()) if (node.resource === resource) yield node;
  }
}
