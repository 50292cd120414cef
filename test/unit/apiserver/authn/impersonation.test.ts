import { describe, expect, test } from 'vitest';
import { impersonated } from '../../../../apiserver/authn/impersonate.ts';
import {
  type Mode,
  modesFor,
  ownGroups,
  questionsOf,
} from '../../../../apiserver/authn/impersonation-modes.ts';
import { type Wanted, wantedBy } from '../../../../apiserver/authn/wanted.ts';
import type { Attributes } from '../../../../apiserver/plugins.ts';
import { parseRequest } from '../../../../apiserver/request.ts';
import type { ApiRequest, UserInfo } from '../../../../kube/http.ts';

const wanted = (name: string, more: Partial<Wanted> = {}): Wanted => ({
  name,
  uid: '',
  groups: [],
  extra: {},
  ...more,
});
const requester: UserInfo = { name: 'dev', groups: [] };
const agent: UserInfo = {
  name: 'system:serviceaccount:default:agent',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
};

describe('the ways in which somebody may be taken for', () => {
  test.each<[string, Wanted, UserInfo, Mode[]]>([
    ['a user', wanted('jane'), requester, ['user-info', 'legacy']],
    ['a user of a group', wanted('jane', { groups: ['g'] }), requester, ['user-info', 'legacy']],
    ['an account', wanted('system:serviceaccount:a:b'), requester, ['serviceaccount', 'legacy']],
    ['an account of a group', wanted('system:serviceaccount:a:b', { groups: ['g'] }), requester, ['legacy']],
    ['what is no account', wanted('system:serviceaccount:Bad_NS:b'), requester, ['user-info', 'legacy']],
    ['a node', wanted('system:node:n1'), requester, ['arbitrary-node', 'legacy']],
    ['the node it runs on', wanted('system:node:n1'), agent, ['associated-node', 'arbitrary-node', 'legacy']],
    ['another node', wanted('system:node:n2'), agent, ['arbitrary-node', 'legacy']],
    ['a node with a uid', wanted('system:node:n1', { uid: '7' }), agent, ['legacy']],
    ['what is no node', wanted('system:node:N_1'), agent, ['user-info', 'legacy']],
  ])('%s', (_, one, by, modes) => expect(modesFor(one, by)).toEqual(modes));
});

describe('what is asked', () => {
  const asked = (mode: Mode, one: Wanted) =>
    [...questionsOf(mode, one)].map(
      ({ verb, group, resource, subresource, namespace, name, refused }) =>
        `${verb} ${[resource, subresource].filter(Boolean).join('/')}.${group} ${[namespace, name].filter(Boolean).join('/')}${refused ? `: ${refused}` : ''}`,
    );
  const whole = wanted('jane', { uid: '7', groups: ['g'], extra: { 'a.io/b': ['c'] } });
  test.each<[string, Mode, Wanted, string[]]>([
    [
      'of everything that is said',
      'user-info',
      whole,
      [
        'impersonate:user-info users.authentication.k8s.io jane',
        'impersonate:user-info uids.authentication.k8s.io 7',
        'impersonate:user-info groups.authentication.k8s.io g',
        'impersonate:user-info userextras/a.io/b.authentication.k8s.io c',
      ],
    ],
    [
      'as it always was',
      'legacy',
      whole,
      [
        'impersonate users. jane',
        'impersonate uids.authentication.k8s.io 7',
        'impersonate groups. g',
        'impersonate userextras/a.io/b.authentication.k8s.io c',
      ],
    ],
    [
      'of an account',
      'serviceaccount',
      wanted('system:serviceaccount:a:b'),
      ['impersonate:serviceaccount serviceaccounts.authentication.k8s.io a/b'],
    ],
    [
      'of a node',
      'arbitrary-node',
      wanted('system:node:n1'),
      ['impersonate:arbitrary-node nodes.authentication.k8s.io n1'],
    ],
    [
      'of the node it runs on',
      'associated-node',
      wanted('system:node:n1'),
      ['impersonate:associated-node nodes.authentication.k8s.io *'],
    ],
  ])('%s', (_, mode, one, questions) => expect(asked(mode, one)).toEqual(questions));

  test.each<[Partial<Wanted>, string]>([
    [{ groups: ['system:masters'] }, 'impersonating the system:masters group is not allowed'],
    [{ groups: [''] }, 'impersonating the empty string group is not allowed'],
    [{ extra: { '': ['x'] } }, 'impersonating the empty string key in extra is not allowed'],
    [
      { extra: { foo: ['x'] } },
      'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
    [{ extra: { 'a.io/b': [''] } }, 'impersonating the empty string value in extra is not allowed'],
  ])('%j is refused but by who may be anybody', (more, why) => {
    const one = wanted('jane', more);
    expect([...questionsOf('user-info', one)].map(({ refused }) => refused)).toContain(why);
    expect([...questionsOf('legacy', one)].every(({ refused }) => refused === undefined)).toBe(true);
  });

  test('a node has its group where it is one', () => {
    expect(ownGroups('arbitrary-node', wanted('system:node:n1'))).toEqual(['system:nodes']);
    expect(ownGroups('legacy', wanted('system:node:n1'))).toEqual([]);
  });
});

describe('what the headers say', () => {
  const said = (headers: Record<string, string>) =>
    wantedBy({ method: 'GET', url: '/', headers } as Parameters<typeof wantedBy>[0]);
  test('nothing', () => expect(said({ 'impersonate-user': '' })).toBeUndefined());
  test('an empty group is one', () => {
    expect(said({ 'impersonate-user': 'j', 'impersonate-group': '' })?.groups).toEqual(['']);
  });
  test('an extra that is written in two ways has the values of both', () => {
    const both = { 'impersonate-extra-ab': 'x', 'impersonate-extra-a%62': 'y' };
    expect(said({ 'impersonate-user': 'j', ...both })?.extra).toEqual({ ab: ['x', 'y'] });
  });
  test.each<[Record<string, string>, string]>([
    [
      { 'impersonate-group': 'x' },
      '&user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)}',
    ],
    [
      { 'impersonate-uid': 'x' },
      '&user.DefaultInfo{Name:"", UID:"x", Groups:[]string(nil), Extra:map[string][]string(nil)}',
    ],
    [
      { 'impersonate-extra-b': 'y', 'impersonate-extra-a': 'x' },
      '&user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"x"}, "b":[]string{"y"}}}',
    ],
  ])('%j without a user', (headers, shown) => {
    expect(() => said(headers)).toThrow(`requested ${shown} without impersonating a user name`);
  });
});

describe('who decides', () => {
  const asked = async (
    url: string,
    headers: Record<string, string>,
    by: UserInfo,
    refused: (one: Attributes) => boolean = () => false,
  ) => {
    const questions: Attributes[] = [];
    const distinct = Object.fromEntries(
      Object.entries(headers).map(([name, values]) => [name, values.split(',')]),
    );
    const request: ApiRequest = { method: 'GET', url, headers, distinct };
    const info = parseRequest('GET', url, { logicalClusters: true });
    const taken = await impersonated(request, by, info, (one) => {
      questions.push(one);
      return { allowed: !refused(one) };
    });
    return { taken, questions };
  };

  const four = { 'impersonate-user': 'jane', 'impersonate-group': 'a,b,c,d' };
  const of = ({ verb, resource, subresource, name }: Attributes) =>
    `${verb} ${[resource, subresource].filter(Boolean).join('/')} ${name}`;

  test('may allow any groups at once, where there are many', async () => {
    const notByName = ({ verb, resource, name }: Attributes) =>
      verb === 'impersonate' || (resource === 'groups' && name !== '*');
    const { taken, questions } = await asked('/api/v1/pods', four, requester, notByName);
    expect(taken?.user.groups).toEqual(['a', 'b', 'c', 'd', 'system:authenticated']);
    expect(questions.slice(2).map(of)).toEqual(['impersonate:user-info groups *']);
  });

  test('is asked of each where not all are allowed', async () => {
    const { taken, questions } = await asked('/api/v1/pods', four, requester, ({ name }) => name === '*');
    expect(taken?.constraint).toBe('impersonate:user-info');
    expect(questions.slice(2).map(({ name }) => name)).toEqual(['*', 'a', 'b', 'c', 'd']);
  });

  test('allows no reserved group with the others', async () => {
    const headers = { ...four, 'impersonate-group': 'a,b,c,system:atoll:controllers' };
    await expect(asked('/api/v1/pods', headers, requester)).rejects.toMatchObject({ code: 403 });
  });

  test('may allow any extras at once, where there are many', async () => {
    const headers = { 'impersonate-user': 'jane', 'impersonate-extra-a.io%2fb': '1,2,3,4' };
    const { questions } = await asked('/api/v1/pods', headers, requester);
    expect(questions.slice(2).map(of)).toEqual(['impersonate:user-info userextras/* *']);
  });

  test('knows of which logical cluster an account is that would be its node, not of which node', async () => {
    const own = {
      'authentication.kcp.io/cluster-name': ['a'],
      'authentication.kcp.io/scopes': ['cluster:a'],
    };
    const by = { ...agent, extra: { ...agent.extra, ...own } };
    const { questions } = await asked('/api/v1/pods', { 'impersonate-user': 'system:node:n1' }, by);
    const keys = Object.keys(by.extra).sort();
    const told = { ...own, 'authentication.kubernetes.io/associated-node-keys': keys };
    expect(questions.map(({ verb, user }) => [verb, user.extra])).toEqual([
      ['impersonate-on:associated-node:list', told],
      ['impersonate:associated-node', told],
    ]);
  });

  test('knows which are to be listed', async () => {
    const url = '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1';
    const { questions } = await asked(url, { 'impersonate-user': 'jane' }, requester);
    expect(questions.map(({ verb, selectors }) => [verb, selectors?.().field])).toEqual([
      ['impersonate-on:user-info:list', [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }]],
      ['impersonate:user-info', undefined],
    ]);
  });

  test('is asked nothing of who is nobody else', async () => {
    const { taken, questions } = await asked('/api/v1/pods', { 'impersonate-nobody': 'x' }, requester);
    expect([taken, questions]).toEqual([undefined, []]);
  });
});
