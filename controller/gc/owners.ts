import type { Client } from '../../client/client.ts';
import type { DiscoveredResource } from '../../client/discovery.ts';
import { isMissing } from '../../client/errors.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { OwnerReference } from '../../kube/object.ts';
import type { OwnerState } from './decide.ts';
import { type Graph, type Node, nodeOf, waitsForDependents } from './graph.ts';
import { KindNotServedError, type Kinds } from './kinds.ts';

/** Uids never return, so what is gone stays gone; the number bounds memory, not truth. */
const rememberedAbsent = 1_000;

/** Finds out whether owners exist: in the graph if it knows them well, else from the server. */
export class Owners {
  readonly #client: Client;
  readonly #graph: Graph;
  readonly #kinds: Kinds;
  readonly #absent = new Set<string>();

  constructor(client: Client, graph: Graph, kinds: Kinds) {
    this.#client = client;
    this.#graph = graph;
    this.#kinds = kinds;
  }

  /** Enough to leave an object alone without asking the server. */
  allPresent(node: Node): boolean {
    return node.owners.every((owner) => {
      const known = this.#graph.get(owner.uid);
      return known !== undefined && isWhereNamed(known, owner, node) && !waitsForDependents(known);
    });
  }

  /**
   * The truth, from the server. Fails where it does not say: while the owner's kind is not served in that logical
   * cluster, may not be read, or nobody answers. Nothing is deleted for an owner that nobody can look up, unless its
   * end was seen.
   */
  async stateOf(owner: OwnerReference, node: Node, signal: AbortSignal): Promise<OwnerState> {
    // The same uid named under other coordinates is another question.
    const { group } = parseApiVersion(owner.apiVersion);
    const question = [owner.uid, node.cluster, node.namespace, group, owner.kind, owner.name].join('/');
    if (this.#absent.has(question)) return 'gone';
    const resource = this.#resourceOf(owner, group, node);
    if (!resource) return 'gone';
    // A cluster-scoped object cannot name an owner in a namespace; Kubernetes leaves it alone.
    if (resource.namespaced && node.namespace === '') return 'present';
    const namespace = resource.namespaced ? node.namespace : undefined;
    const target = { cluster: node.cluster, namespace, name: owner.name };
    try {
      const live = await this.#client.get(resource, target, signal);
      if (live.metadata.uid === owner.uid) {
        return waitsForDependents(nodeOf(resource, live, node.cluster)) ? 'waiting' : 'present';
      }
    } catch (error) {
      if (!isMissing(error, owner.name)) throw error;
    }
    this.#remember(question);
    return 'gone';
  }

  /** Undefined: its kind is served no more, and it was seen to end before. */
  #resourceOf(owner: OwnerReference, group: string, node: Node): DiscoveredResource | undefined {
    try {
      return this.#kinds.ofKind(node.cluster, group, owner.kind);
    } catch (error) {
      if (error instanceof KindNotServedError && this.#graph.hasEnded(owner.uid)) return undefined;
      throw error;
    }
  }

  #remember(question: string): void {
    this.#absent.add(question);
    if (this.#absent.size <= rememberedAbsent) return;
    for (const oldest of this.#absent) {
      this.#absent.delete(oldest);
      return;
    }
  }
}

function isWhereNamed(known: Node, owner: OwnerReference, dependent: Node): boolean {
  return (
    known.cluster === dependent.cluster &&
    known.name === owner.name &&
    known.kind === owner.kind &&
    known.resource.group === parseApiVersion(owner.apiVersion).group &&
    (known.namespace === '' || known.namespace === dependent.namespace)
  );
}
