import type { Client } from '../../client/client.ts';
import { type Informer, startInformer } from '../../client/informer.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, type ResourceRef } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Evaluator } from '../../kube/quota/evaluator.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import { metadataOnly } from '../gc/monitors.ts';
import { type CustomResourceDefinition, fromDefinition } from '../gc/resources.ts';
import { namespaceKey } from './names.ts';

export interface WatchedOptions {
  client: Client;
  informers: InformerSet;
  definitions: Informer<CustomResourceDefinition>;
  signal: AbortSignal;
  logger: Logger;
  /** Of such a resource something came, went, or (with `old`) changed. */
  changed(evaluator: Evaluator, object: KubeObject, old?: KubeObject): void;
}

const byNamespace = 'quota/namespace';
/** Their spec and status count; of any other, that it is there. */
const whole = new Set(['/pods', '/services', '/persistentvolumeclaims', 'resource.k8s.io/resourceclaims']);

/** One watch for each resource that some quota bounds, over all logical clusters: others' where there is one. */
export class Watched {
  readonly #options: WatchedOptions;
  readonly #informers = new Map<string, Informer>();

  constructor(options: WatchedOptions) {
    this.#options = options;
  }

  /** Undefined where the resource is not served in that logical cluster, or is in no namespace. */
  of(evaluator: Evaluator, cluster: string): Informer | undefined {
    const resource = this.#find(evaluator, cluster);
    if (!resource) return undefined;
    const key = `${evaluator.group}/${evaluator.resource}`;
    let informer = this.#informers.get(key);
    if (!informer) {
      informer = this.#start(resource, whole.has(key));
      informer.addIndex(byNamespace, (object) => [namespaceKey(object)]);
      this.#informers.set(key, informer);
      const { changed } = this.#options;
      informer.on({
        add: (object) => changed(evaluator, object),
        update: (object, old) => changed(evaluator, object, old),
        delete: (object) => changed(evaluator, object),
      });
    }
    return informer;
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

  #start(resource: ResourceRef, isWhole: boolean): Informer {
    const { client, informers, signal, logger } = this.#options;
    if (isWhole) return informers.for(resource);
    const shared = informers.peek(resource);
    if (shared) return shared;
    const { cluster } = informers;
    return startInformer(client, resource, { cluster, signal, logger, transform: metadataOnly });
  }
}
