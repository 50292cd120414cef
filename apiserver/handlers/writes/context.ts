import { andThen, type Later } from '../../../kube/later.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { admissionFor } from '../../admission/chain.ts';
import { isOwnController } from '../../authn/controllers.ts';
import { authorizeRequest } from '../../authz/check.ts';
import type { ResourceExchange } from '../../core.ts';
import type { WriteQuery } from '../../decode/options.ts';
import { requireRoom } from '../../limits/room.ts';

export function writeContext(
  exchange: ResourceExchange,
  query: WriteQuery,
  operation: 'CREATE' | 'UPDATE',
  subresource = '',
) {
  const admission = admissionFor(exchange, operation, query.dryRun);
  const { core, info, stored, user, longTurn } = exchange;
  const { gate } = core;
  const bounded = gate !== undefined && !isOwnController(user);
  return {
    bounded,
    guesses: isOwnController(user),
    checksStatus: !isOwnController(user),
    ...(bounded && query.dryRun && { room: (write: Tried) => requireRoom(gate, stored.info, write) }),
    ...(longTurn && { longTurn }),
    manager: query.manager,
    dryRun: query.dryRun,
    subresource,
    requested: exchange.served,
    mutate: admission.mutate,
    validate: admission.validate,
    user,
    authorize: core.authorize,
    info,
    warn: (message: string) => exchange.warnings.add(message),
  };
}

type Tried = Parameters<typeof requireRoom>[2];

type Context = ReturnType<typeof writeContext>;

/** Of what an update or an apply would create: whoever sends it may create, too. Asked where kube-apiserver asks. */
export function creating<T extends Context>(exchange: ResourceExchange, context: T): T {
  const { core, info, user } = exchange;
  const asked = { ...info, verb: 'create' };
  const validate = (object: KubeObject, old: KubeObject | undefined): Later<void> =>
    andThen(authorizeRequest(core.authorize, asked, user), () => context.validate(object, old));
  return { ...context, validate };
}
