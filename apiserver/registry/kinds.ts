import { dropUse } from '../limits/show.ts';
import type { ServedResource } from '../served.ts';
import { tellApiServices, tellAvailable } from './kinds/api-service-status.ts';
import { releaseClaims } from './kinds/claims.ts';
import { classHooks } from './kinds/classes.ts';
import { prepareDefinition, serveDefinition } from './kinds/crd.ts';
import { tellEstablished } from './kinds/definition-status.ts';
import { adminAccess } from './kinds/device-access.ts';
import { deviceStatusAccess } from './kinds/device-status.ts';
import { levelHooks, schemaHooks } from './kinds/flow-status.ts';
import type { KindHooks } from './kinds/hooks.ts';
import { bindingHooks, roleHooks } from './kinds/roles.ts';
import { allocateService } from './kinds/services.ts';
import { nameRequester } from './kinds/signing-requests.ts';
import { isFoundation, sweep } from './logical-clusters.ts';
import { prepareNamespace } from './namespaces.ts';

const hooks: Readonly<Record<string, KindHooks>> = {
  '/namespaces': { prepare: prepareNamespace },
  '/services': {
    prepare: allocateService,
    committed: async (write, _name, change) => {
      await releaseClaims(write, change.old, change.object);
      await tellApiServices(write, change);
    },
  },
  'resource.k8s.io/resourceclaims': { causes: adminAccess, statusCauses: deviceStatusAccess },
  'resource.k8s.io/resourceclaimtemplates': { causes: adminAccess },
  'certificates.k8s.io/certificatesigningrequests': { prepare: nameRequester },
  'apiregistration.k8s.io/apiservices': { committed: tellAvailable },
  'flowcontrol.apiserver.k8s.io/flowschemas': schemaHooks,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': levelHooks,
  'scheduling.k8s.io/priorityclasses': classHooks,
  'rbac.authorization.k8s.io/clusterroles': roleHooks,
  'rbac.authorization.k8s.io/clusterrolebindings': bindingHooks,
  'rbac.authorization.k8s.io/roles': roleHooks,
  'rbac.authorization.k8s.io/rolebindings': bindingHooks,
  // What a request that was under way meanwhile wrote goes afterwards.
  'tenancy.kcp.io/workspaces': { settle: dropUse },
  'core.kcp.io/logicalclusters': {
    settle: dropUse,
    leaving: ({ registry, cluster }, name) =>
      isFoundation(cluster, name) ? sweep(registry.store, cluster) : undefined,
    committed: async ({ registry, cluster }, name, { object }) => {
      if (object !== undefined || !isFoundation(cluster, name)) return;
      await sweep(registry.store, cluster).catch(() => undefined);
    },
  },
  'apiextensions.k8s.io/customresourcedefinitions': {
    settle: prepareDefinition,
    committed: async (write, name, change) => {
      const { object, revision } = change;
      // First: one whose names others have is never served.
      await tellEstablished(write, name, change);
      serveDefinition(write.registry.catalog, write.cluster, name, object, revision);
    },
  },
};

export function hooksOf(served: ServedResource): KindHooks {
  let known = hooksKnown.get(served);
  if (known === undefined) {
    known = hooks[`${served.info.group}/${served.info.resource}`] ?? {};
    hooksKnown.set(served, known);
  }
  return known;
}

/** By what is served, which lives long. */
const hooksKnown = new WeakMap<ServedResource, KindHooks>();
