import { andThen, type Later } from '../../../kube/later.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { admissionFor } from '../../admission/chain.ts';
import { authorizeRequest } from '../../authz/check.ts';
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

type Context = ReturnType<typeof writeContext>;

/** Of what an update or an apply would create: whoever sends it may create, too. Asked where kube-apiserver asks. */
export function creating<T extends Context>(exchange: ResourceExchange, context: T): T {
  const { core, info, user } = exchange;
  const asked = { ...info, verb: 'create' };
  const validate = (object: KubeObject, old: KubeObject | undefined): Later<void> =>
    andThen(authorizeRequest(core.authorize, asked, user), () => context.validate(object, old));
  return { ...context, validate };
}
