import { sameJson } from '../../../kube/deep.ts';
import { allocatedTo, deviceId } from '../../../kube/devices.ts';
import type { JsonObject, KubeObject } from '../../../kube/object.ts';
import { isStatusError, type StatusCause } from '../../../kube/status.ts';
import { at, isRecord, record, records, strings, text } from '../../../kube/untyped.ts';
import { Field } from '../../../kube/validation/field.ts';
import { nodeUnder } from '../../authn/wanted.ts';
import { authorizeRequest } from '../../authz/check.ts';
import type { RequestInfo } from '../../request.ts';
import { adminAccessProblem } from './device-access.ts';
import type { KindWrite } from './hooks.ts';

/**
 * Who tells the status of a ResourceClaim needs more than to write it: to bind claims, and to tell of the devices of each
 * driver, on the node that they are on or on any.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
 */
export async function deviceStatusAccess(
  write: KindWrite,
  object: KubeObject,
  old: KubeObject,
): Promise<StatusCause[]> {
  const field = new Field([], 'status');
  const [now, before] = [record(object.status), record(old.status)];
  const isAdmins = ({ adminAccess }: JsonObject) => adminAccess === true;
  const index = allocatedTo(object).findIndex(isAdmins);
  if (index >= 0 && !allocatedTo(old).some(isAdmins)) {
    const why = await adminAccessProblem(write, object);
    const path = field.child('allocation', 'devices', 'results').index(index).child('adminAccess');
    if (why !== undefined) path.forbidden(why);
  }
  const { info, user } = write;
  // The server's own writes have neither.
  if (info === undefined || user === undefined) return field.causes;
  const { verb } = info;
  if (!isSameBinding(now, before)) {
    const why = await refusal(write, { ...info, subresource: 'binding', namespace: '', name: '' });
    const needed = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}"`;
    if (why !== undefined) field.child('allocation').forbidden(`${needed} permission: ${why}`);
  }
  // What is told of devices goes with them.
  if (!isRecord(now['allocation'])) return field.causes;
  const node = nodeOf(now['allocation']);
  const isThere = node !== undefined && nodeUnder(user) === node;
  const verbs = [...(isThere ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`];
  for (const driver of driversTold(now, before)) {
    const why = await refusalOfAll(write, { ...info, subresource: 'driver', name: driver }, verbs);
    const needed = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]"`;
    if (why !== undefined) field.child('devices').forbidden(`${needed} permission: ${why}`);
  }
  return field.causes;
}

/** Why none of the verbs is allowed: what was said of the first. */
async function refusalOfAll(
  write: KindWrite,
  asked: RequestInfo,
  verbs: readonly string[],
): Promise<string | undefined> {
  let first: string | undefined;
  for (const verb of verbs) {
    const why = await refusal(write, { ...asked, verb });
    if (why === undefined) return undefined;
    first ??= why;
  }
  return first;
}

async function refusal({ user, authorize }: KindWrite, asked: RequestInfo): Promise<string | undefined> {
  if (user === undefined || authorize === undefined) return undefined;
  try {
    await authorizeRequest(authorize, asked, user);
    return undefined;
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return error.message;
    throw error;
  }
}

function isSameBinding(now: JsonObject, before: JsonObject): boolean {
  const isSame = sameJson(now['allocation'] ?? null, before['allocation'] ?? null);
  return isSame && sameJson(records(now['reservedFor']), records(before['reservedFor']));
}

/** In the order of their names: of which driver's devices something else is told than before, or nothing any more. */
function driversTold(now: JsonObject, before: JsonObject): string[] {
  const old = new Map(records(before['devices']).map((one) => [deviceId(one), one]));
  const told = new Set<string>();
  for (const one of records(now['devices'])) {
    const was = old.get(deviceId(one));
    old.delete(deviceId(one));
    if (was === undefined || !sameJson(was, one)) told.add(text(one['driver']));
  }
  for (const one of old.values()) told.add(text(one['driver']));
  return [...told].sort();
}

/** On which node alone the devices are. */
function nodeOf(allocation: JsonObject): string | undefined {
  const terms = records(at(allocation, 'nodeSelector', 'nodeSelectorTerms'));
  const [term] = terms;
  const fields = records(term?.['matchFields']);
  const [one] = fields;
  if (terms.length !== 1 || fields.length !== 1 || records(term?.['matchExpressions']).length > 0)
    return undefined;
  const values = strings(one?.['values']);
  const isName = one?.['key'] === 'metadata.name' && one['operator'] === 'In' && values.length === 1;
  return isName ? values[0] : undefined;
}
