import { admissionFor } from '../../admission/chain.ts';
import type { ResourceExchange } from '../../core.ts';
import { type Deleted, deleteObject } from '../../registry/delete.ts';
import type { DeleteOptions } from '../../registry/types.ts';

/** Admission, then the deletion; what DELETE and deletecollection have in common. */
export async function deleteOne(
  exchange: ResourceExchange,
  name: string,
  options: DeleteOptions,
  namespace = exchange.info.namespace,
): Promise<Deleted> {
  const { core, info, stored } = exchange;
  return deleteObject(
    core.registry,
    stored,
    { cluster: info.cluster, namespace, name },
    {
      ...options,
      longTurn: exchange.longTurn,
      signal: exchange.request.signal,
      validate: async (object, grace) => {
        const asked = { ...options, ...(grace !== undefined && { gracePeriodSeconds: grace }) };
        const admission = admissionFor(exchange, 'DELETE', options.dryRun ?? false, { name, options: asked });
        await admission.mutate(undefined, object);
        await admission.validate(undefined, object);
      },
    },
  );
}

/** What a Job leaves behind surprises whoever did not choose. */
export function warnOfOrphans({ stored, warnings }: ResourceExchange, options: DeleteOptions): void {
  const { group, resource } = stored.info;
  if (group !== 'batch' || resource !== 'jobs' || options.propagationPolicy !== undefined) return;
  warnings.add(
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  );
}
