import { limitsOf } from '../../cluster/limits.ts';
import { workspaces } from '../../cluster/names.ts';
import { deepEqual } from '../../kube/deep.ts';
import { andThen, type Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { quoteGo } from '../../kube/quote.ts';
import { forbidden } from '../../kube/status.ts';
import { record } from '../../kube/untyped.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';

const { group, version, resource } = workspaces;
const known = new Set(['type', 'cluster', 'URL', 'limits']);
const mostFields = 100;

/**
 * A Workspace is in the parent of its logical cluster, out of the reach of those inside. Who may make Workspaces there does
 * not say by that how large they are: spec.limits takes the verb `limit`, which who administers the parent has.
 */
export const limitsAdmission: AdmissionPlugin = {
  name: 'LogicalClusterLimits',
  validate(request) {
    const { object, old, stored, user } = request;
    if (stored.info.group !== group || stored.info.resource !== resource || object === undefined)
      return undefined;
    warnOfUnknown(request, object);
    if (deepEqual(limitsOf(object), old && limitsOf(old)) || isOwnController(user)) return undefined;
    return requireLimit(request);
  },
};

/** The shape is open, as kcp's clients write more than is read here: a typing error would give limits away that nobody set. */
function warnOfUnknown(request: AdmissionRequest, { spec }: KubeObject): void {
  const before = record(request.old?.spec);
  for (const name of Object.keys(record(spec)).slice(0, mostFields))
    if (!known.has(name) && !Object.hasOwn(before, name)) request.warn(`unknown field "spec.${name}"`);
}

function requireLimit({ user, cluster, name, authorize, stored }: AdmissionRequest): Later<void> {
  const asked = {
    user,
    cluster,
    verb: 'limit',
    group,
    version,
    resource,
    subresource: '',
    namespace: '',
    name,
  };
  return andThen(authorize(asked), ({ allowed, reason }) => {
    if (allowed) return;
    const why =
      `User ${quoteGo(user.name)} cannot set spec.limits: that needs the verb "limit" on resource ${quoteGo(resource)} ` +
      `in API group ${quoteGo(group)} of the logical cluster that the Workspace is in${reason ? `: ${reason}` : ''}`;
    throw forbidden(stored.info, name, why);
  });
}
