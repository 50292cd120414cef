import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Committed, KindWrite } from './kinds.ts';
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

/** A definition's names are accepted, and what it defines is served: it is, since the write that this tells of. */
export async function tellEstablished(write: KindWrite, name: string, change: Committed): Promise<void> {
  const { object } = change;
  if (object === undefined || !isOwnCause(write, change)) return;
  const { acceptedNames } = (object.status ?? {}) as { acceptedNames?: unknown };
  const { names } = (object.spec ?? {}) as { names?: unknown };
  if (deepEqual(acceptedNames, names)) return;
  const installing = { ...established, status: 'False', reason: 'Installing' };
  const was = conditionsOf(object).some(({ type, status }) => type === 'Established' && status === 'True');
  const told = was ? [accepted] : [accepted, installing];
  await writeStatus(write, name, (current) => withConditions(current, told, names), { manager });
  if (!was) await writeStatus(write, name, (current) => withConditions(current, [established]), { manager });
}

function withConditions(object: KubeObject, told: readonly Condition[], names?: unknown): KubeObject {
  const conditions = told.reduce(withCondition, conditionsOf(object));
  const acceptedNames = names === undefined ? {} : { acceptedNames: names };
  return { ...object, status: { ...(object.status as object), conditions, ...acceptedNames } };
}
