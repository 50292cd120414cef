import {
  accountTokenLabel,
  authorityAnnotation,
  locatorAnnotation,
  managedValue,
  renewAfterAnnotation,
} from '../cluster/names.ts';
import { secretOf } from '../cluster/pod-access.ts';
import type { AccountToken, Locator } from '../cluster/types.ts';
import { encodeJson } from '../kube/json.ts';
import type { KubeObject } from '../kube/object.ts';
import { timestamp } from '../kube/timestamp.ts';
import { numberAt, textAt } from '../kube/untyped.ts';
import type { Engine } from './engine.ts';
import { readLocator } from './ownership.ts';

/** In the locator of such a Secret, beside the account's name. */
export const tokenResource = 'serviceaccounts/token';

/** Made there by this syncer, or by one of a former registration that is taken over. */
export function isAccountToken({ uid, former }: Pick<Engine, 'uid' | 'former'>, object: KubeObject): boolean {
  const found = readLocator(object);
  if (found?.resource !== tokenResource || object.metadata.name !== secretOf(found.name ?? '')) return false;
  return found.syncer === uid || former.has(found.syncer);
}

export function secretFor(
  locator: Locator,
  { namespace, name }: { namespace: string; name: string },
  { token, authority }: AccountToken,
  { renewAt, authority: of }: { renewAt: number; authority: string },
): KubeObject {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { [accountTokenLabel]: managedValue },
      annotations: {
        [locatorAnnotation]: JSON.stringify(locator),
        [renewAfterAnnotation]: timestamp(new Date(renewAt)),
        [authorityAnnotation]: of,
      },
    },
    type: 'Opaque',
    data: { token: base64(token), 'ca.crt': base64(authority), namespace: base64(locator.namespace) },
  };
}

/** What makes pods, beside what we have put there. */
const makers = [
  { group: '', version: 'v1', resource: 'pods' },
  { group: 'apps', version: 'v1', resource: 'replicasets' },
  { group: 'batch', version: 'v1', resource: 'jobs' },
];

/** Whether pods that are there need that Secret, or such as may be made there. */
export async function isUsed(
  { client, physical, signal }: Pick<Engine, 'client' | 'physical' | 'signal'>,
  namespace: string,
  name: string,
): Promise<boolean> {
  const names = ({ spec }: KubeObject) => encodeJson(spec ?? {}).includes(encodeJson(name));
  for (const { object } of physical.inNamespace(namespace))
    if (names(object) || isRolling(object)) return true;
  for (const kind of makers) {
    const { items } = await client.list(kind, { namespace, signal });
    if (items.some((object) => names(object) && !isOver(kind.resource, object))) return true;
  }
  return false;
}

/** Of a StatefulSet or DaemonSet: it may make pods of a former revision, which stands in no object's spec. */
function isRolling({ status }: KubeObject): boolean {
  const [before, after] = [textAt(status, 'currentRevision'), textAt(status, 'updateRevision')];
  const [updated, desired] = [
    numberAt(status, 'updatedNumberScheduled'),
    numberAt(status, 'desiredNumberScheduled'),
  ];
  return before !== after || (updated ?? 0) < (desired ?? 0);
}

/** It makes no pod any more. */
function isOver(resource: string, { spec, status }: KubeObject): boolean {
  if (resource === 'replicasets')
    return numberAt(spec, 'replicas') === 0 && (numberAt(status, 'replicas') ?? 0) === 0;
  if (resource === 'jobs') return textAt(status, 'completionTime') !== undefined;
  return ['Succeeded', 'Failed'].includes(textAt(status, 'phase') ?? '');
}
