import { validateQualifiedName } from '../names.ts';
import { text } from '../untyped.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';

const strategies = ['OldestEmulationVersion'];

function strategy(value: string, field: Field): void {
  if (value.includes('/')) field.invalidAll(value, validateQualifiedName(value));
  else if (!strategies.includes(value)) field.notSupported(value, strategies);
}

/** https://kubernetes.io/docs/concepts/architecture/leases/ */
const lease: KindCheck = ({ spec }, root) => {
  const field = root.child('spec');
  const seconds = spec['leaseDurationSeconds'];
  if (typeof seconds === 'number' && seconds <= 0)
    field.child('leaseDurationSeconds').invalid(seconds, 'must be greater than 0');
  const transitions = spec['leaseTransitions'];
  if (typeof transitions === 'number' && transitions < 0)
    field.child('leaseTransitions').invalid(transitions, 'must be greater than or equal to 0');
  const chosen = spec['strategy'];
  // kube-apiserver says the field's name twice.
  if (typeof chosen === 'string') strategy(chosen, field.child('strategy', 'strategy'));
  if (text(spec['preferredHolder']) && !chosen)
    field.child('preferredHolder').forbidden('may only be specified if `strategy` is defined');
};

export const leaseChecks: KindChecks = { 'coordination.k8s.io/Lease': lease };
