import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { isRecord } from '../kube/untyped.ts';
import { givenOwnersAnnotation } from './names.ts';

/** The owners that somebody in its logical cluster has given a reflected object: of what clusters say only one controls it. */
export function givenOwners({ metadata }: KubeObject): OwnerReference[] {
  return (metadata.ownerReferences ?? []).filter(({ controller }) => controller !== true);
}

/** What notes them on the object where it runs: whether or not they are there, with the uids of the logical cluster. */
export function ownersNote(owners: readonly OwnerReference[]): string | null {
  return owners.length === 0 ? null : JSON.stringify(owners);
}

/** Those that are noted. Of what makes no sense nothing is. */
export function notedOwners({ metadata }: KubeObject): OwnerReference[] {
  const note = metadata.annotations?.[givenOwnersAnnotation];
  if (note === undefined) return [];
  try {
    const value: unknown = JSON.parse(note);
    return Array.isArray(value) ? value.filter(isReference) : [];
  } catch {
    return [];
  }
}

function isReference(value: unknown): value is OwnerReference {
  if (!isRecord(value) || value['controller'] === true) return false;
  return ['apiVersion', 'kind', 'name', 'uid'].every((field) => typeof value[field] === 'string');
}
