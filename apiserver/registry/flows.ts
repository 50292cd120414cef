import { rootCluster } from '../../cluster/names.ts';
import { bootstrapFlows, type FlowResource, flowGroup, flowResources } from '../../kube/flow/bootstrap.ts';
import type { KubeObject } from '../../kube/object.ts';
import { prefixRange, type Store } from '../../storage/store.ts';
import { Ahead } from './ahead.ts';
import { parseKey, type StoredAs } from './keys.ts';
import { notesOf } from './notes.ts';

export const flowKinds: Readonly<Record<FlowResource, StoredAs>> = {
  flowschemas: { group: flowGroup, resource: 'flowschemas', namespaced: false },
  prioritylevelconfigurations: {
    group: flowGroup,
    resource: 'prioritylevelconfigurations',
    namespaced: false,
  },
};

const notes = notesOf(flowGroup);

export function flowResource(group: string, resource: string): FlowResource | undefined {
  return group === flowGroup ? flowResources.find((one) => one === resource) : undefined;
}

/**
 * FlowSchemas and priority levels as the store has them, whichever server wrote them: those of root, which count, and which
 * logical clusters have theirs as objects.
 */
export class Flows {
  /** Told what counts, whenever that changes. */
  changed: (schemas: readonly KubeObject[], levels: readonly KubeObject[]) => void = () => undefined;
  readonly #written = new Set<string>();
  readonly #root = {
    flowschemas: new Map<string, KubeObject>(),
    prioritylevelconfigurations: new Map<string, KubeObject>(),
  };
  #telling = false;
  readonly #ahead = new Ahead(prefixRange(`/${flowGroup}/`), (key, object) => this.#learn(key, object));

  /** Resolves when all that was there by then is known; rejects when the store cannot be read. */
  async follow(store: Store, signal: AbortSignal): Promise<void> {
    await this.#ahead.follow(store, signal);
    this.#tell();
  }

  /** This server wrote, or deleted, just now. */
  wrote(key: string, object: KubeObject | undefined, revision: number): void {
    this.#ahead.wrote(key, object, revision);
  }

  isWritten(cluster: string, resource: FlowResource): boolean {
    return this.#written.has(`${cluster}/${resource}`);
  }

  #learn(key: string, object: KubeObject | undefined): void {
    const named = key.split('/')[2];
    if (named === notes.resource) {
      const { cluster, name } = parseKey(notes, key);
      if (object === undefined) this.#written.delete(`${cluster}/${name}`);
      else this.#written.add(`${cluster}/${name}`);
      if (cluster === rootCluster) this.#tellSoon();
      return;
    }
    const resource = flowResource(flowGroup, named ?? '');
    if (resource === undefined) return;
    const { cluster, name } = parseKey(flowKinds[resource], key);
    if (cluster !== rootCluster) return;
    if (object === undefined) this.#root[resource].delete(name);
    else this.#root[resource].set(name, object);
    this.#tellSoon();
  }

  /** Once for all that came together. */
  #tellSoon(): void {
    if (this.#telling) return;
    this.#telling = true;
    queueMicrotask(() => {
      this.#telling = false;
      this.#tell();
    });
  }

  #tell(): void {
    this.changed(this.#counting('flowschemas'), this.#counting('prioritylevelconfigurations'));
  }

  /** Until they are all there is, the defaults count beside those that are stored. */
  #counting(resource: FlowResource): readonly KubeObject[] {
    const stored = [...this.#root[resource].values()];
    if (this.isWritten(rootCluster, resource)) return stored;
    const byDefault = bootstrapFlows(resource).filter(
      ({ metadata: { name = '' } }) => !this.#root[resource].has(name),
    );
    return [...stored, ...byDefault];
  }
}
