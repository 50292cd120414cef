import { deepEqual } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import {
  acceptNames,
  type DefinitionNames,
  type NamesConflict,
  type UsedNames,
} from '../../../kube/validation/crd/accepted-names.ts';
import type { Entry } from '../../../storage/store.ts';
import { decodeStored } from '../codec.ts';
import { parseKey } from '../keys.ts';
import { definitions } from './crd.ts';
import type { Committed, KindWrite } from './hooks.ts';
import { type Condition, conditionsOf, isOwnCause, withCondition, writeStatus } from './own-status.ts';

const manager = 'kube-apiserver';

const accepted: Condition = {
  type: 'NamesAccepted',
  status: 'True',
  reason: 'NoConflicts',
  message: 'no conflicts found',
};

const established: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};
const installing: Condition = { ...established, status: 'False', reason: 'Installing' };
const notAccepted: Condition = {
  ...installing,
  reason: 'NotAccepted',
  message: 'not all names are accepted',
};

/**
 * Tells whether the names of a definition that was written are free, and then that what it defines is served. A
 * definition that went, or that has other names now, may have freed those that others of its group wait for.
 */
export async function tellEstablished(write: KindWrite, name: string, change: Committed): Promise<void> {
  const { object, old } = change;
  if (object === undefined) return tellOthers(write, name, old);
  if (!isOwnCause(write, change)) return;
  if ((await tell(write, name, object)) && acceptedOf(old).plural) await tellOthers(write, name, object);
}

/** Answers whether what is accepted changed. */
async function tell(write: KindWrite, name: string, object: KubeObject): Promise<boolean> {
  const asked = namesOf(object);
  if (asked === undefined || isSettled(object, asked)) return false;
  const { names, conflict } = acceptNames(asked, acceptedOf(object), await usedBeside(write, name, object));
  const was = isTrue(object, 'Established');
  const told = [conflict ? refused(conflict) : accepted];
  if (!was && !conflict) told.push(installing);
  else if (!was && !conditionsOf(object).some(({ type }) => type === 'Established')) told.push(notAccepted);
  await writeStatus(write, name, (current) => withConditions(current, told, names), { manager });
  if (!was && !conflict)
    await writeStatus(write, name, (current) => withConditions(current, [established]), { manager });
  return true;
}

function isSettled(object: KubeObject, asked: DefinitionNames): boolean {
  return (
    deepEqual(acceptedOf(object), asked) && [accepted, established].every(({ type }) => isTrue(object, type))
  );
}

async function tellOthers(write: KindWrite, name: string, object: KubeObject | undefined): Promise<void> {
  for (const other of await groupOf(write, object)) {
    if (other.name === name || other.object.metadata.deletionTimestamp) continue;
    await tell(write, other.name, other.object);
  }
}

interface Definition {
  name: string;
  object: KubeObject;
  entry: Entry;
}

/** The definitions of the object's group in its logical cluster, as of now: nobody decides by what was before. */
async function groupOf(write: KindWrite, object: KubeObject | undefined): Promise<Definition[]> {
  const { group } = (object?.spec ?? {}) as { group?: string };
  const { entries } = await write.registry.readAll(write.served, write.cluster, '');
  return entries.flatMap((entry) => {
    const { name } = parseKey(definitions, entry.key);
    return name.endsWith(`.${group}`) ? [{ name, object: decodeStored(entry), entry }] : [];
  });
}

/** The names that built-in kinds and other definitions of the group have, or asked for first. */
async function usedBeside(write: KindWrite, name: string, object: KubeObject): Promise<UsedNames> {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  const use = ({ plural, singular, shortNames, kind, listKind }: Partial<DefinitionNames>) => {
    for (const one of [plural, singular, ...(shortNames ?? [])]) if (one) resources.add(one);
    for (const one of [kind, listKind]) if (one) kinds.add(one);
  };
  const { group } = (object.spec ?? {}) as { group?: string };
  for (const { info } of write.registry.catalog.common) {
    if (info.group !== group) continue;
    const { resource: plural, singular, shortNames = [], kind } = info;
    use({ plural, singular, shortNames: [...shortNames], kind, listKind: `${kind}List` });
  }
  const all = await groupOf(write, object);
  const mine = all.find((one) => one.name === name)?.entry.created ?? Number.POSITIVE_INFINITY;
  for (const other of all) {
    if (other.name === name) continue;
    use(acceptedOf(other.object));
    const waits = !conditionsOf(other.object).some(({ type }) => type === accepted.type);
    if (waits && other.entry.created < mine) use(namesOf(other.object) ?? {});
  }
  return { resources, kinds };
}

function namesOf(object: KubeObject): DefinitionNames | undefined {
  return (object.spec as { names?: DefinitionNames } | undefined)?.names;
}

function acceptedOf(object: KubeObject | undefined): Partial<DefinitionNames> {
  return (object?.status as { acceptedNames?: DefinitionNames } | undefined)?.acceptedNames ?? {};
}

function refused({ reason, message }: NamesConflict): Condition {
  return { ...accepted, status: 'False', reason, message };
}

function isTrue(object: KubeObject, condition: string): boolean {
  return conditionsOf(object).some(({ type, status }) => type === condition && status === 'True');
}

function withConditions(
  object: KubeObject,
  told: readonly Condition[],
  acceptedNames?: DefinitionNames,
): KubeObject {
  const conditions = told.reduce(withCondition, conditionsOf(object));
  return {
    ...object,
    status: { ...(object.status as object), conditions, ...(acceptedNames && { acceptedNames }) },
  };
}
