import type { KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../kube/object.ts';
import { decodeManagers } from '../../kube/patch/managers.ts';
import { badRequest } from '../../kube/status.ts';

type Warn = ((message: string) => void) | undefined;

/** Owners that are named twice, alike, count once; a client that does so is warned. Changes `object`. */
export function dedupOwners(object: KubeObject, warn: Warn, when = ''): void {
  const { ownerReferences: given } = object.metadata;
  if (!given || given.length < 2) return;
  const seen = new Set<string>();
  const twice: string[] = [];
  const kept = given.filter((one) => {
    const key = keyOf(one);
    if (seen.has(key)) twice.push(one.uid);
    return !seen.has(key) && seen.add(key);
  });
  if (twice.length === 0) return;
  object.metadata = { ...object.metadata, ownerReferences: kept };
  warn?.(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, ` +
      `and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${twice.join(', ')}`,
  );
}

function keyOf({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller ?? null, blockOwnerDeletion ?? null]);
}

/** Whether a resourceVersion names one, as a number of 64 bits that is not zero: what is none says nothing of an object to create. */
export function namesRevision(text = ''): boolean {
  if (!/^\d{1,40}$/.test(text)) return false;
  const value = BigInt(text);
  return value > 0n && BigInt.asUintN(64, value) === value;
}

/** Puts right what mutating admission left of an object's metadata; `managers` are those of before. Changes `object`. */
export function settleAdmitted(
  object: KubeObject,
  { namespace, managers }: { namespace: string; managers: ManagedFieldsEntry[] | undefined },
  warn: Warn,
): void {
  object.metadata ??= {};
  const metadata: ObjectMeta & { selfLink?: unknown } = object.metadata;
  if (metadata.selfLink !== undefined) delete metadata.selfLink;
  keepNamespace(metadata, namespace);
  if (metadata.managedFields !== managers) {
    const why = whyNoManagers(metadata.managedFields);
    if (why !== undefined) {
      delete metadata.managedFields;
      if (managers) metadata.managedFields = managers;
      warn?.(
        `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${why}`,
      );
    }
  }
  dedupOwners(object, warn, ' after mutating admission happens');
}

/** It is stored by the namespace of the request, and believed to be in the one that it says. */
function keepNamespace(metadata: ObjectMeta, namespace: string): void {
  if (namespace === '') delete metadata.namespace;
  else metadata.namespace ||= namespace;
  if ((metadata.namespace ?? '') === namespace) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function whyNoManagers(entries: ManagedFieldsEntry[] | undefined): string | undefined {
  try {
    decodeManagers(entries, 'given');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
