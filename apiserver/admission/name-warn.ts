import { placedKind } from '../../cluster/kinds.ts';
import { isSystemNamespace, physicalNamespaceAnnotation } from '../../cluster/names.ts';
import { physicalNamespace } from '../../cluster/placement.ts';
import { andThen, type Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { textAt } from '../../kube/untyped.ts';
import type { AdmissionRequest } from '../plugins.ts';

/** `api.back.svc`, `db-0.db.back.svc.cluster.local.`: what comes before the Namespace, the Namespace, and the rest. */
const inCluster = /^(.+)\.([^.]+)\.(svc(?:\..*)?)$/;

/**
 * A name of the cluster's DNS has the Namespace in it, and Namespaces have other names on physical clusters
 * (decisions/0006): who writes an ExternalName is told by which it leads there where it was meant to, if they may know of
 * that Namespace.
 */
export function warnOfExternalName(request: AdmissionRequest, object: KubeObject): Later<void> {
  if (placedKind(request.stored.info)?.kind !== 'Service' || textAt(object.spec, 'type') !== 'ExternalName')
    return;
  const name = textAt(object.spec, 'externalName') ?? '';
  const [, before, namespace = '', after] = inCluster.exec(name) ?? [];
  const isOld = textAt(request.old?.spec, 'externalName') === name;
  if (before === undefined || isOld || isSystemNamespace(namespace)) return undefined;
  return andThen(mayKnow(request, namespace), (may) =>
    may ? warnOf(request, { before, namespace, after }) : undefined,
  );
}

interface Led {
  before: string;
  namespace: string;
  after: string | undefined;
}

function warnOf(request: AdmissionRequest, { before, namespace, after }: Led): Promise<void> {
  const { registry, cluster } = request;
  return registry.get({ cluster, group: '', resource: 'namespaces', name: namespace }).then(
    ({ metadata: { uid, annotations } }) => {
      const there = annotations?.[physicalNamespaceAnnotation] ?? physicalNamespace(cluster, namespace, uid);
      const why = `on physical clusters it leads nowhere: Namespace ${namespace} is called ${there} there`;
      request.warn(`spec.externalName: ${why}; ${before}.${there}.${after} leads to it`);
    },
    (error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error;
    },
  );
}

/** Whether whoever asks may read a Namespace: to others it is nothing that there is one. */
function mayKnow({ user, cluster, authorize }: AdmissionRequest, namespace: string): Later<boolean> {
  const what = {
    group: '',
    version: 'v1',
    resource: 'namespaces',
    subresource: '',
    namespace,
    name: namespace,
  };
  return andThen(authorize({ user, cluster, verb: 'get', ...what }), ({ allowed }) => allowed);
}
