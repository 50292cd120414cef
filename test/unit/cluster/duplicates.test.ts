import { expect, test } from 'vitest';
import { withoutDuplicates } from '../../../cluster/duplicates.ts';

const env = (...pairs: [string, string][]) => pairs.map(([name, value]) => ({ name, value }));

test.each<[string, [string, string][], [string, string][]]>([
  [
    'each once stays as it is',
    [
      ['B', '2'],
      ['A', '1'],
    ],
    [
      ['B', '2'],
      ['A', '1'],
    ],
  ],
  [
    'the last value is the one that a container has',
    [
      ['A', '1'],
      ['B', '2'],
      ['A', '3'],
      ['A', '4'],
    ],
    [
      ['B', '2'],
      ['A', '4'],
    ],
  ],
  [
    'what is made of a former value keeps it',
    [
      ['A', '1'],
      ['B', '$(A)'],
      ['A', '2'],
    ],
    [
      ['A', '1'],
      ['B', '$(A)'],
      ['A', '2'],
    ],
  ],
  [
    'so does what is made of itself',
    [
      ['P', '/bin'],
      ['P', '$(P):/opt'],
    ],
    [
      ['P', '/bin'],
      ['P', '$(P):/opt'],
    ],
  ],
])('variables that are said twice: %s', (_what, given, expected) => {
  const spec = withoutDuplicates({
    initContainers: [{ name: 'i', env: env(...given) }],
    containers: [{ name: 'c', env: env(...given) }, { name: 'd' }],
  });
  expect(spec).toEqual({
    initContainers: [{ name: 'i', env: env(...expected) }],
    containers: [{ name: 'c', env: env(...expected) }, { name: 'd' }],
  });
});

test('a port or pull secret that is said twice in the same words is said once', () => {
  const port = { containerPort: 80, protocol: 'TCP' };
  const other = { ...port, name: 'http' };
  const pull = { name: 'registry' };
  const spec = { containers: [{ name: 'c', ports: [port, port, other] }], imagePullSecrets: [pull, pull] };
  expect(withoutDuplicates(spec)).toEqual({
    containers: [{ name: 'c', ports: [port, other] }],
    imagePullSecrets: [pull],
  });
});
