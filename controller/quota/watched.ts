import type { Informer } from '../../client/informer.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, type ResourceRef } from '../../client/url.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Evaluator } from '../../kube/quota/evaluator.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import { metadataOnly } from '../gc/monitors.ts';
import { type CustomResourceDefinition, fromDefinition } from '../gc/resources.ts';
import { namespaceKey } from './names.ts';

export interface WatchedOptions {
  informers: InformerSet;
  /** Of all logical clusters. */
  definitions: Informer<CustomResourceDefinition>;
  /** Of such a resource something came, or (with `old`) changed. */
  changed(evaluator: Evaluator, object: KubeObject, old?: KubeObject): void;
  went(evaluator: Evaluator, object: KubeObject): void;
}

const byNamespace = 'quota/namespace';
const byVersion = 'quota/version';
/** Their spec and status count; of any other, that it is there. */
const whole = new Set(['/pods', '/services', '/persistentvolumeclaims', 'resource.k8s.io/resourceclaims']);
const builtin = new Set(builtinResources.map(keyFor));

interface Watch {
  informer: Informer;
  stop(): void;
}

/**
 * One watch for each version of a resource that some quota bounds, over all logical clusters: others' where there is one.
 * Each is of the version that its own logical cluster has defined: one that another defined may go at any time.
 */
export class Watched {
  readonly #options: WatchedOptions;
  readonly #watches = new Map<string, Watch>();

  constructor(options: WatchedOptions) {
    this.#options = options;
    options.definitions.addIndex(byVersion, (one) => {
      const found = fromDefinition(one);
      return found ? [keyFor(found)] : [];
    });
  }

  /** Undefined where the resource is not served in that logical cluster, or is in no namespace. */
  of(evaluator: Evaluator, cluster: string): Informer | undefined {
    const resource = this.#find(evaluator, cluster);
    if (!resource) return undefined;
    const key = keyFor(resource);
    const watch = this.#watches.get(key) ?? this.#start(evaluator, resource);
    this.#watches.set(key, watch);
    return watch.informer;
  }

  /** Ends the watches of what nobody defines any more. */
  forget(): void {
    for (const [key, watch] of this.#watches) {
      if (builtin.has(key) || this.#options.definitions.byIndex(byVersion, key).length > 0) continue;
      watch.stop();
      this.#watches.delete(key);
    }
  }

  objects(informer: Informer, cluster: string, namespace: string): KubeObject[] {
    return informer.byIndex(byNamespace, keyOf(cluster, namespace, ''));
  }

  #find({ group, resource }: Evaluator, cluster: string): ResourceRef | undefined {
    const builtin = builtinResources.find((one) => one.group === group && one.resource === resource);
    if (builtin) {
      const isListed = ['create', 'list', 'watch', 'delete'].every((verb) => builtin.verbs.includes(verb));
      return builtin.namespaced && isListed ? builtin : undefined;
    }
    const definition = this.#options.definitions.get(keyOf(cluster, '', `${resource}.${group}`));
    const found = definition && fromDefinition(definition);
    return found?.namespaced ? found : undefined;
  }

  #start(evaluator: Evaluator, resource: ResourceRef): Watch {
    const { changed, went, informers } = this.#options;
    const isWhole = whole.has(`${resource.group}/${resource.resource}`);
    if (isWhole) informers.for(resource);
    const { informer, release } = informers.borrow(resource, metadataOnly);
    informer.addIndex(byNamespace, (object) => [namespaceKey(object)]);
    const leave = informer.on({
      add: (object) => changed(evaluator, object),
      update: (object, old) => changed(evaluator, object, old),
      delete: (object) => went(evaluator, object),
    });
    const stop = () => {
      leave();
      release();
    };
    return { informer, stop };
  }
}

function keyFor({ group, version, resource }: ResourceRef): string {
  return `${group}/${version}/${resource}`;
}
