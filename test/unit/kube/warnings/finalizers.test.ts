import { expect, it } from 'vitest';
import { finalizerWarnings } from '../../../../kube/warnings/finalizers.ts';
import { named } from '../kinds.ts';

const rollout = (...finalizers: string[]) => {
  const object = named('a.example/v1', 'Farm', {});
  return { ...object, metadata: { ...object.metadata, finalizers } };
};
const prefer = (name: string, better: string) =>
  `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name${better} to avoid accidental conflicts with other finalizer writers`;

it.each<[string, string[], string[] | undefined, string[]]>([
  ['one with a path', ['a.example/field'], undefined, []],
  ["Kubernetes' own", ['orphan', 'foregroundDeletion', 'kubernetes'], undefined, []],
  [
    'one without a path',
    ['field.a.example'],
    undefined,
    [prefer('field.a.example', ' including a path (/)')],
  ],
  ['one without a domain', ['field'], undefined, [prefer('field', '')]],
  ['several, by name and once', ['y', 'x', 'y'], undefined, [prefer('x', ''), prefer('y', '')]],
  ['what was there before', ['field'], ['field'], []],
  ['what is new', ['field', 'barn'], ['field'], [prefer('barn', '')]],
])('%s', (_, finalizers, before, expected) => {
  expect(finalizerWarnings(rollout(...finalizers), before && rollout(...before))).toEqual(expected);
});
