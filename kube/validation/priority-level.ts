import type { JsonObject } from '../object.ts';
import { at, int, isRecord, record, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { fixedSpec } from './flow-fixed.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { oneOf } from './rules.ts';

const mostQueues = 10_000_000;
/** What one hash can deal: a deck of 2^60 hands. */
const mostHashBits = 60;

function percent(value: unknown, field: Field): void {
  if (typeof value === 'number' && (value < 0 || value > 100))
    field.invalid(value, 'must be between 0 and 100, inclusive');
}

function shares(value: unknown, field: Field): void {
  if (typeof value === 'number' && value < 0) field.invalid(value, 'must be a non-negative integer');
}

function queuing(value: JsonObject, field: Field): void {
  const [length, queues, hand] = ['queueLengthLimit', 'queues', 'handSize'].map((name) =>
    int(value[name]),
  ) as [number, number, number];
  if (length <= 0) field.child('queueLengthLimit').invalid(length, 'must be positive');
  if (queues <= 0) field.child('queues').invalid(queues, 'must be positive');
  else if (queues > mostQueues)
    field.child('queues').invalid(queues, `must not be greater than ${mostQueues}`);
  const path = field.child('handSize');
  if (hand <= 0) path.invalid(hand, 'must be positive');
  else if (hand > queues) path.invalid(hand, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * hand) > mostHashBits) {
    const what = `required entropy bits of deckSize ${queues} and handSize ${hand}`;
    path.invalid(hand, `${what} should not be greater than ${mostHashBits}`);
  }
}

function limited(value: JsonObject, field: Field): void {
  shares(value['nominalConcurrencyShares'], field.child('nominalConcurrencyShares'));
  const response = record(value['limitResponse']);
  const path = field.child('limitResponse');
  const type = text(response['type']);
  const queues = response['queuing'];
  oneOf(type, ['Queue', 'Reject'], path.child('type'));
  if (type === 'Reject' && isRecord(queues))
    path.child('queuing').forbidden('must be nil if limited.limitResponse.type is not Limited');
  if (type === 'Queue' && isRecord(queues)) queuing(queues, path.child('queuing'));
  else if (type === 'Queue')
    path.child('queuing').required('must not be empty if limited.limitResponse.type is Limited');
  percent(value['lendablePercent'], field.child('lendablePercent'));
  const borrowing = value['borrowingLimitPercent'];
  if (typeof borrowing === 'number' && borrowing < 0)
    field.child('borrowingLimitPercent').invalid(borrowing, 'if specified, must be a non-negative integer');
}

/** https://kubernetes.io/docs/concepts/cluster-administration/flow-control/ */
const priorityLevel: KindCheck = ({ object, spec }, root) => {
  const field = root.child('spec');
  const type = text(spec['type']);
  if ((at(object, 'metadata', 'name') === 'exempt') !== (type === 'Exempt'))
    field.child('type').invalid(type, "must be 'Exempt' if and only if `name` is 'exempt'");
  oneOf(type, ['Exempt', 'Limited'], field.child('type'));
  const exempt = spec['exempt'];
  if (type === 'Exempt') {
    if (isRecord(spec['limited'])) field.child('limited').forbidden('must be nil if the type is not Limited');
    const own = record(exempt);
    shares(own['nominalConcurrencyShares'], field.child('exempt', 'nominalConcurrencyShares'));
    percent(own['lendablePercent'], field.child('exempt', 'lendablePercent'));
  } else if (type === 'Limited') {
    if (isRecord(exempt)) field.child('exempt').forbidden('must be nil if the type is Limited');
    if (isRecord(spec['limited'])) limited(spec['limited'], field.child('limited'));
    else field.child('limited').required('must not be empty when type is Limited');
  }
  fixedSpec('prioritylevelconfigurations', at(object, 'metadata', 'name'), spec, field);
};

export const priorityLevelChecks: KindChecks = {
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevel,
};
