import { admissionFor } from '../../admission/chain.ts';
import type { ResourceExchange } from '../../core.ts';
import type { WriteQuery } from '../../decode/options.ts';

export function writeContext(
  exchange: ResourceExchange,
  query: WriteQuery,
  operation: 'CREATE' | 'UPDATE',
  subresource = '',
) {
  const admission = admissionFor(exchange, operation, query.dryRun);
  return {
    manager: query.manager,
    dryRun: query.dryRun,
    subresource,
    requested: exchange.served,
    mutate: admission.mutate,
    validate: admission.validate,
    user: exchange.user,
    authorize: exchange.core.authorize,
    // A write that is tried again says the same again.
    warn: (message: string) => {
      if (!exchange.warnings.includes(message)) exchange.warnings.push(message);
    },
  };
}
