import type { KubeObject } from '../../kube/object.ts';
import type { ServedResource } from '../options.ts';
import { prepareDefinition, serveDefinition } from './crd.ts';
import { prepareNamespace } from './namespaces.ts';
import type { ObjectRegistry } from './registry.ts';
import { allocateClusterIP } from './services.ts';

/** What a kind needs beyond defaults, strategy and validation. `old` is undefined for a create. */
export interface KindHooks {
  /** After admission, before the strategy; may change `object`. */
  prepare?(write: KindWrite, object: KubeObject, old: KubeObject | undefined): void | Promise<void>;
  /** After the strategy has set what clients may not. */
  settle?(object: KubeObject, old: KubeObject | undefined): void;
  /** After the write is durable; `undefined`: the object went. */
  committed?(write: KindWrite, name: string, object: KubeObject | undefined): void;
}

export interface KindWrite {
  registry: ObjectRegistry;
  served: ServedResource;
  cluster: string;
  subresource: string;
}

const hooks: Readonly<Record<string, KindHooks>> = {
  '/namespaces': { prepare: prepareNamespace },
  '/services': { prepare: allocateClusterIP },
  'apiextensions.k8s.io/customresourcedefinitions': {
    settle: prepareDefinition,
    committed: (write, name, object) => serveDefinition(write.registry.catalog, write.cluster, name, object),
  },
};

export function hooksOf(served: ServedResource): KindHooks {
  return hooks[`${served.info.group}/${served.info.resource}`] ?? {};
}
