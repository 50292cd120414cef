import { controllersUser, ownerAnnotation, workspaces } from '../../cluster/names.ts';
import { ownerOf } from '../../cluster/owner.ts';
import type { KubeObject } from '../../kube/object.ts';
import { forbidden, invalid } from '../../kube/status.ts';
import { isOwn } from '../authn/controllers.ts';
import { mastersGroup } from '../authz/masters.ts';
import { standing } from '../authz/standing.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';

/**
 * Who makes a Workspace is written on it, and administers the logical cluster that it makes: kcp's rule. An
 * administrator of everything may name somebody else; nobody else says who it is, then or later, nor does a webhook.
 */
export const ownerAdmission: AdmissionPlugin = {
  name: 'WorkspaceOwner',
  mutate(request) {
    const { object, user } = request;
    if (object === undefined || !concerns(request) || isAdmin(request)) return;
    const { [ownerAnnotation]: said, ...others } = object.metadata.annotations ?? {};
    const owner = written(request);
    if (said !== owner) {
      object.metadata.annotations = { ...others, ...(owner !== undefined && { [ownerAnnotation]: owner }) };
    }
    const isNew = request.operation === 'CREATE' && owner === undefined;
    if (isNew) request.warn(`${JSON.stringify(user.name)} ${unknownThere}`);
  },
  validate(request) {
    const { object, stored, name } = request;
    if (object === undefined || !concerns(request)) return;
    if (isAdmin(request)) return insistOnUser(request, object);
    if (object.metadata.annotations?.[ownerAnnotation] === written(request)) return;
    throw forbidden(stored.info, name, `the annotation ${ownerAnnotation} is the system's to write`);
  },
};

function concerns({ stored: { info }, user }: AdmissionRequest): boolean {
  const isWorkspace = info.resource === workspaces.resource && info.group === workspaces.group;
  return isWorkspace && !isOwn(user, controllersUser);
}

function isAdmin({ user }: AdmissionRequest): boolean {
  return user.groups.includes(mastersGroup);
}

/** Nobody who is of one logical cluster alone: in another the same name is somebody else. */
function written({ operation, old, user, cluster }: AdmissionRequest): string | undefined {
  if (operation !== 'CREATE') return old?.metadata.annotations?.[ownerAnnotation];
  if (standing(user, cluster) !== 'guest') return undefined;
  const { name, uid, groups } = user;
  return name.startsWith('system:') ? undefined : JSON.stringify({ username: name, uid, groups });
}

const unknownThere =
  'is nobody in the logical cluster that this makes: an administrator of the server gives rights there';

function insistOnUser({ stored: { info }, name, old }: AdmissionRequest, object: KubeObject): void {
  const said = object.metadata.annotations?.[ownerAnnotation];
  if (said === undefined || said === old?.metadata.annotations?.[ownerAnnotation]) return;
  if (ownerOf(object) !== undefined) return;
  throw invalid(info.group, info.kind, name, [
    {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(said)}: must be JSON with the "username" of a user that is not reserved`,
      field: `metadata.annotations[${ownerAnnotation}]`,
    },
  ]);
}
