import type { GroupVersionKind } from '../../kube/gvk.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import type { ResourceExchange } from '../core.ts';
import type { AdmissionRequest } from '../options.ts';
import { quotaAdmission } from './quota.ts';

export interface Admission {
  /** `object` is undefined for a deletion. */
  mutate(object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>;
  validate(object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>;
}

export interface Given {
  /** Default: those of the URL. */
  subresource?: string;
  name?: string;
  /** Of the objects, when it is not the resource's own. */
  kind?: GroupVersionKind;
}

/**
 * The plugins, bound to one request. They see objects in the stored version.
 * Mutating: built-in ones · webhooks · again both, as far as the webhooks changed anything · the server's own, which
 * have the last word. Validating: the server's own · built-in ones · webhooks · quotas.
 */
export function admissionFor(
  exchange: ResourceExchange,
  operation: AdmissionRequest['operation'],
  dryRun: boolean,
  given?: Given,
): Admission {
  const { core } = exchange;
  const request = (object: KubeObject | undefined, old: KubeObject | undefined, fresh: boolean) =>
    requestOf(exchange, operation, dryRun, { ...given, object, old, fresh });
  return {
    async mutate(object, old) {
      const asked = request(object, old, true);
      for (const plugin of core.builtin) await plugin.mutate?.(asked);
      const round = await core.webhooks.mutate(asked);
      if (round.changed) {
        for (const plugin of core.builtin) await plugin.mutate?.(asked);
        await round.again(asked);
      }
      for (const plugin of core.admission) await plugin.mutate?.(asked);
    },
    async validate(object, old) {
      const asked = request(object, old, false);
      for (const plugin of core.admission) await plugin.validate?.(asked);
      for (const plugin of core.builtin) await plugin.validate?.(asked);
      await core.webhooks.validate(asked);
      // Last: what is refused by another uses nothing.
      await quotaAdmission.validate?.(asked);
    },
  };
}

interface Subject extends Given {
  object: KubeObject | undefined;
  old: KubeObject | undefined;
  fresh: boolean;
}

function requestOf(
  exchange: ResourceExchange,
  operation: AdmissionRequest['operation'],
  dryRun: boolean,
  subject: Subject,
): AdmissionRequest {
  const { core, info, user, stored, served } = exchange;
  const { object, old, kind, fresh } = subject;
  const options = optionsOf(exchange, operation);
  return {
    user,
    operation: operation === 'UPDATE' && old === undefined ? 'CREATE' : operation,
    cluster: info.cluster,
    stored,
    requested: served,
    ...(kind && { kind }),
    subresource: subject.subresource ?? info.subresource,
    namespace: served.info.namespaced ? info.namespace : '',
    name: subject.name ?? (info.name || (object ?? old)?.metadata.name) ?? '',
    ...(object && { object }),
    ...(old && { old }),
    dryRun,
    ...(fresh && { fresh }),
    ...(options && { options }),
    registry: core.registry,
    authorize: core.authorize,
    warn: (message) => exchange.warnings.push(message),
  };
}

const optionKinds: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

function optionsOf(
  { info }: ResourceExchange,
  operation: AdmissionRequest['operation'],
): JsonObject | undefined {
  const kind = operation === 'UPDATE' && info.verb === 'patch' ? 'PatchOptions' : optionKinds[operation];
  if (kind === undefined) return undefined;
  const { query } = info;
  const dryRun = query.getAll('dryRun').filter(Boolean);
  const word = (name: string) => (query.get(name) ? { [name]: query.get(name) } : {});
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun.length > 0 && { dryRun }),
    ...(kind === 'PatchOptions' && query.get('force') && { force: query.get('force') === 'true' }),
    ...word('fieldManager'),
    ...word('fieldValidation'),
  };
}
