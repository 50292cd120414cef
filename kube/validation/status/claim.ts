import { validateQualifiedName } from '../../names.ts';
import { parseQuantity, scaledQuantity } from '../../quantity.ts';
import { at, record, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { SubresourceCheck } from '../kind.ts';
import { isNative } from '../pod/resources.ts';

/** Of how far it has grown, in the order in which they are told. */
const resizes = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizePending',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
].sort();

/** Whether it may be told of. */
function resourceKey(name: string, field: Field): boolean {
  const messages = validateQualifiedName(name);
  field.invalidAll(name, messages);
  if (messages.length > 0) return false;
  if (!isNative(name) || name === 'storage') return true;
  field.notSupported(name, ['storage']);
  return false;
}

function quantity(value: unknown, field: Field): void {
  if (typeof value !== 'string' && typeof value !== 'number') return;
  const whole = scaledQuantity(parseQuantity(value));
  if (whole < 0n) field.invalid(whole, 'must be a valid resource quantity');
}

/** https://kubernetes.io/docs/concepts/storage/persistent-volumes/ */
const claim: SubresourceCheck = (object, _old, root) => {
  const field = root.child('status');
  const map = (name: string) => Object.entries(record(at(object, 'status', name)));
  for (const [name, value] of map('capacity')) quantity(value, field.child('capacity').key(name));
  const states = field.child('allocatedResourceStatuses');
  for (const [name, state] of map('allocatedResourceStatuses')) {
    resourceKey(name, states);
    if (!resizes.includes(text(state))) states.notSupported(name, resizes);
  }
  const allocated = field.child('allocatedResources');
  for (const [name, value] of map('allocatedResources')) {
    if (resourceKey(name, allocated)) quantity(value, allocated.key(name));
  }
};

export const claimStatuses: Readonly<Record<string, SubresourceCheck>> = {
  '/PersistentVolumeClaim/status': claim,
};
