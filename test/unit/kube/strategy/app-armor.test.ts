import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { appArmorFields } from '../../../../kube/strategy/app-armor.ts';

const prefix = 'container.apparmor.security.beta.kubernetes.io/';
const warning = (name: string) =>
  `metadata.annotations[${prefix}${name}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
const unconfined = { type: 'Unconfined' };
const standard = { type: 'RuntimeDefault' };
const own = (name: string) => ({ type: 'Localhost', localhostProfile: name });

/** Of kube-apiserver 1.36.3: the profiles of the first container, of `c` and of `d`, and who is warned about. */
test.each<[string, Record<string, string>, object, unknown[], string[]]>([
  ['one of this node', { c: 'localhost/p' }, {}, [undefined, own('p'), undefined], ['c']],
  ['the runtime’s', { c: 'runtime/default' }, {}, [undefined, standard, undefined], ['c']],
  [
    'those of two',
    { c: 'unconfined', first: 'runtime/default' },
    {},
    [standard, unconfined, undefined],
    ['first', 'c'],
  ],
  ['none that there is', { c: 'bad' }, {}, [undefined, undefined, undefined], ['c']],
  ['one without a name', { c: 'localhost/' }, {}, [undefined, undefined, undefined], ['c']],
  ['one of blanks', { c: 'localhost/ p' }, {}, [undefined, undefined, undefined], ['c']],
  ['one of no container', { x: 'unconfined' }, {}, [undefined, undefined, undefined], []],
  [
    'the Pod’s and another',
    { c: 'runtime/default', d: 'unconfined' },
    { securityContext: { appArmorProfile: standard } },
    [undefined, undefined, unconfined],
    ['d'],
  ],
  ['one on Windows', { c: 'unconfined' }, { os: { name: 'windows' } }, [undefined, undefined, undefined], []],
])('an annotation of %s', (_, said, spec, profiles, warned) => {
  const annotations = Object.fromEntries(Object.entries(said).map(([name, value]) => [prefix + name, value]));
  const containers = [{ name: 'c' }, { name: 'd' }] as Record<string, unknown>[];
  const initContainers = [{ name: 'first' }] as Record<string, unknown>[];
  const pod = { metadata: { name: 'p', annotations }, spec: { ...spec, containers, initContainers } };
  const warnings: string[] = [];
  appArmorFields(pod as unknown as KubeObject, (message) => warnings.push(message));
  const found = [...initContainers, ...containers].map((one) => one['securityContext']);
  expect(found).toEqual(profiles.map((appArmorProfile) => appArmorProfile && { appArmorProfile }));
  expect(warnings).toEqual(warned.map(warning));
});

test('a field stays as it is, and nobody is warned', () => {
  const containers = [{ name: 'c', securityContext: { appArmorProfile: standard } }];
  const pod = {
    metadata: { name: 'p', annotations: { [`${prefix}c`]: 'localhost/p' } },
    spec: { containers },
  };
  const warnings: string[] = [];
  appArmorFields(pod as unknown as KubeObject, (message) => warnings.push(message));
  expect([containers, warnings]).toEqual([
    [{ name: 'c', securityContext: { appArmorProfile: standard } }],
    [],
  ]);
});
