import { describe, expect, test } from 'vitest';
import { currentOf, mergedKubeconfig } from '../../../client/merged-kubeconfig.ts';
import { decodeYaml } from '../../../kube/yaml.ts';

const merged = (...texts: string[]) =>
  decodeYaml(mergedKubeconfig(texts.map((text, i) => ({ path: `/${i}/config`, text })))).value;

describe('several kubeconfigs are one, as for kubectl', () => {
  test('of one name the first entry counts, whole', () => {
    const first = 'users: [{ name: a, user: { token: first } }]';
    const second = 'users: [{ name: a, user: { token: second, username: x } }, { name: b, user: {} }]';
    expect(merged(first, second)).toMatchObject({
      users: [
        { name: 'a', user: { token: 'first' } },
        { name: 'b', user: {} },
      ],
    });
  });

  test.each([
    [['', 'current-context: two'], 'two'],
    [['current-context: ""', 'current-context: two', 'current-context: three'], 'two'],
    [['', ''], undefined],
  ])('of %j the current context is %s', (texts, expected) => {
    expect((merged(...texts) as Record<string, unknown>)['current-context']).toBe(expected);
  });

  test('file names are relative to the file that they stand in', () => {
    const files = 'clusters: [{ name: c, cluster: { certificate-authority: ../ca } }]';
    const user = '{ client-certificate: crt, client-key: /k, tokenFile: t, exec: { command: ./login } }';
    const plain = 'users: [{ name: p, user: { exec: { command: login } } }]';
    expect(merged(`${files}\nusers: [{ name: u, user: ${user} }]`, plain)).toMatchObject({
      clusters: [{ cluster: { 'certificate-authority': '/ca' } }],
      users: [
        {
          user: {
            'client-certificate': '/0/crt',
            'client-key': '/k',
            tokenFile: '/0/t',
            exec: { command: '/0/login' },
          },
        },
        { user: { exec: { command: 'login' } } },
      ],
    });
  });
});

test('what is not named is nothing, never the first that is there', () => {
  const lists = 'clusters: [{ name: c, cluster: {} }]\nusers: [{ name: u, user: {} }]';
  const none = { context: undefined, cluster: undefined, user: undefined };
  expect(currentOf(lists)).toEqual(none);
  expect(currentOf(`${lists}\ncontexts: [{ name: x, context: { user: u } }]\ncurrent-context: x`)).toEqual({
    context: { name: 'x', fields: { user: 'u' } },
    cluster: undefined,
    user: { name: 'u', fields: {} },
  });
});
