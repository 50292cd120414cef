import type { KubeObject } from '../../kube/object.ts';
import type { ResourceExchange } from '../core.ts';
import type { AdmissionRequest } from '../options.ts';

export interface Admission {
  mutate(object: KubeObject, old: KubeObject | undefined): Promise<void>;
  validate(object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>;
}

/** The plugins, bound to one request. They see objects in the stored version. */
export function admissionFor(
  exchange: ResourceExchange,
  operation: AdmissionRequest['operation'],
  dryRun: boolean,
  given?: { subresource?: string; name?: string },
): Admission {
  const { core, info, user, stored } = exchange;
  const request = (object: KubeObject | undefined, old: KubeObject | undefined): AdmissionRequest => ({
    user,
    operation: operation === 'UPDATE' && old === undefined ? 'CREATE' : operation,
    cluster: info.cluster,
    served: stored,
    subresource: given?.subresource ?? info.subresource,
    namespace: info.namespace,
    name: given?.name ?? (info.name || (object ?? old)?.metadata.name) ?? '',
    ...(object && { object }),
    ...(old && { old }),
    dryRun,
    registry: core.registry,
    authorize: core.authorize,
    warn: (message) => exchange.warnings.push(message),
  });
  return {
    async mutate(object, old) {
      for (const plugin of core.admission) await plugin.mutate?.(request(object, old));
    },
    async validate(object, old) {
      for (const plugin of core.admission) await plugin.validate?.(request(object, old));
    },
  };
}
