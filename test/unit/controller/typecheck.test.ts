import { expect, it } from 'vitest';
import { Client } from '../../../client/client.ts';
import { type Warning, warningsOf } from '../../../controller/typecheck/check.ts';
import { kindsToCheck, kindText } from '../../../controller/typecheck/decide.ts';
import { Kinds } from '../../../controller/typecheck/kinds.ts';
import type { GroupVersionResource } from '../../../kube/gvk.ts';
import type { ApiResponse, Transport } from '../../../kube/http.ts';
import { openapiV3Document } from '../../../kube/openapi/openapi.ts';
import {
  ofDeployments,
  ofWidgets,
  type Row,
  variables,
  widgetSchema,
  withParams,
  withUnknownParams,
  withVariables,
} from './typecheck-rows.ts';

const gv = { group: 'example.com', version: 'v1' };
const widgets = {
  ...gv,
  kind: 'Widget',
  resource: 'widgets',
  singular: 'widget',
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ['get'],
  subresources: [],
  storageVersion: 'v1',
};
const widgetsPath = '/openapi/v3/apis/example.com/v1';
const documents: Readonly<Record<string, unknown>> = {
  '/apis/example.com/v1': { resources: [{ name: 'widgets', singularName: 'widget', kind: 'Widget' }] },
  [widgetsPath]: openapiV3Document(gv, [widgets], () => ({ schema: widgetSchema })),
};
let asked: string[] = [];
const transport: Transport = async ({ url }): Promise<ApiResponse> => {
  asked.push(url);
  const found = documents[url];
  const headers = { 'content-type': 'application/json' };
  return { status: found ? 200 : 404, headers, body: Buffer.from(JSON.stringify(found ?? {})) };
};
const known = () => {
  asked = [];
  return new Kinds(new Client(transport), { cluster: undefined, signal: new AbortController().signal });
};

const noTurn = () => undefined;
const rule = (apiGroups: string[], apiVersions: string[], resources: string[]) => ({
  apiGroups,
  apiVersions,
  resources,
});
const matching = (...resourceRules: object[]) => ({ matchConstraints: { resourceRules } });
const apps = ['deployments', 'replicasets', 'daemonsets', 'statefulsets', 'controllerrevisions'];
const core = 'pods services configmaps secrets nodes namespaces serviceaccounts endpoints events limitranges';

it.each<[string, object, string]>([
  ['nothing', {}, ''],
  ['a kind', matching(rule(['apps'], ['v1'], ['deployments'])), 'apps/v1 Deployment'],
  ['its one', matching(rule(['apps'], ['v1'], ['deployment', 'DEPLOYMENTS'])), 'apps/v1 Deployment'],
  ['what is below', matching(rule(['apps'], ['v1'], ['deployments/scale'])), ''],
  ['any group', matching(rule(['*'], ['v1'], ['deployments'])), ''],
  ['any version', matching(rule(['apps'], ['*'], ['deployments'])), ''],
  ['any of a group', matching(rule(['apps'], ['v1'], ['*'])), ''],
  ['what nobody serves', matching(rule(['apps', 'none.example.com'], ['v1'], ['nothings'])), ''],
  ['the core group', matching(rule([''], ['v1'], ['events'])), '/v1 Event, events.k8s.io/v1 Event'],
  ['a definition', matching(rule(['example.com'], ['v1', 'v2'], ['widgets'])), 'example.com/v1 Widget'],
  ['another path', matching(rule(['../api'], ['v1'], ['pods']), rule(['x'], ['v1?a'], ['pods'])), ''],
  [
    'in order, each once',
    matching(
      rule(['batch', 'apps'], ['v1'], ['jobs', 'deployments']),
      rule(['apps'], ['v1'], ['deployments']),
    ),
    'apps/v1 Deployment, batch/v1 Job',
  ],
  [
    'ten of a rule, and then no more',
    matching(
      rule(['apps'], ['v1'], apps),
      rule([''], ['v1'], core.split(' ')),
      rule(['batch'], ['v1'], ['jobs']),
    ),
    '/v1 ConfigMap, /v1 Endpoints, /v1 Event, /v1 LimitRange, /v1 Namespace, /v1 Node, /v1 Pod, /v1 Secret, ' +
      '/v1 ServiceAccount, apps/v1 ControllerRevision, apps/v1 DaemonSet, apps/v1 Deployment, apps/v1 ReplicaSet, ' +
      'apps/v1 StatefulSet, events.k8s.io/v1 Event',
  ],
])('of rules that name %s these kinds are checked', async (_, spec, kinds) => {
  const of = known();
  const found = await kindsToCheck(spec, (resource) => of.kindsFor(resource), noTurn);
  expect(found.map(({ group, version, kind }) => `${group}/${version} ${kind}`).join(', ')).toBe(kinds);
  for (const path of asked) expect(path).toMatch(/^\/apis\/[a-z.]+\/v[12]$/);
});

it('of rules that each name fewer than ten kinds those of fifty are checked, and of a rule with thousands of names none', async () => {
  const count = { asked: 0, turns: 0 };
  const serve = async ({ group, version, resource }: GroupVersionResource) => {
    count.asked++;
    return [{ group, version, kind: resource }];
  };
  const turn = () => void count.turns++;
  const rules = Array.from({ length: 100 }, (_, i) =>
    rule([`g${i}.example.com`], ['v1'], ['a', 'b', 'c', 'd', 'e', 'f']),
  );
  expect(await kindsToCheck(matching(...rules), serve, turn)).toHaveLength(50);
  expect(count.turns).toBeGreaterThanOrEqual(50);
  count.asked = 0;
  const names = Array.from({ length: 1001 }, (_, i) => `n${i}`);
  expect(await kindsToCheck(matching(rule(['x'], ['v1'], names)), serve, turn)).toEqual([]);
  expect(count.asked).toBe(0);
});

it('who names a thousand groups makes fifty requests', async () => {
  const of = known();
  const names = Array.from({ length: 1000 }, (_, i) => `v${i}`);
  expect(
    await kindsToCheck(matching(rule(['example.com'], names, names)), (one) => of.kindsFor(one), noTurn),
  ).toEqual([]);
  const groups = names.map((name) => `${name}.example.com`);
  await kindsToCheck(matching(rule(groups, ['v1'], ['widgets'])), (one) => of.kindsFor(one), noTurn);
  expect(asked.length).toBe(50);
});

it('of the documents that a policy has asked for so many bytes are held', async () => {
  const large = JSON.stringify({ filler: 'a'.repeat(3 << 20) });
  const paths: string[] = [];
  const serve: Transport = async ({ url }) => {
    paths.push(url);
    const body = Buffer.from(url.includes('small') ? JSON.stringify(documents[widgetsPath]) : large);
    return { status: 200, headers: {}, body };
  };
  const of = new Kinds(new Client(serve), { cluster: undefined, signal: new AbortController().signal });
  const typeOf = (group: string) => of.typeOf({ group, version: 'v1', kind: 'Widget' }, 'Widget1');
  for (const group of ['a.com', 'b.com', 'c.com', 'small.com', 'c.com']) await typeOf(group);
  expect(paths).toHaveLength(4);
  const held = await of.typeOf({ group: 'example.com', version: 'v1', kind: 'Widget' }, 'Widget1');
  expect([held, paths.length]).toEqual([undefined, 5]);
});

const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };
const widget = { ...gv, kind: 'Widget' };

async function all(...of: Parameters<typeof warningsOf>): Promise<Warning[]> {
  const found: Warning[] = [];
  for await (const warning of warningsOf(...of)) found.push(warning);
  return found;
}

async function told(
  spec: object,
  kinds: { group: string; version: string; kind: string }[],
  param?: typeof widget,
) {
  const of = known();
  const types = await Promise.all(
    kinds.map(async (kind) => ({ name: kindText(kind), type: await of.typeOf(kind, `${kind.kind}1`) })),
  );
  const params = param && ((await of.typeOf(param, `${param.kind}0`)) ?? null);
  const checked = types.flatMap(({ name, type }) => (type ? [{ name, type }] : []));
  return await all(spec, { kinds: checked, params }, noTurn);
}

const lack = /found no matching overload for '(.*)' applied to '(.*)'$/;
const problems = (warning = '') =>
  [...warning.matchAll(/<input>:(\d+:\d+: .*)/g)].map(([, told = '']) => told.replace(lack, '$1 of $2'));

it.each<[string, Row[], typeof widget, typeof widget?]>([
  ['Deployments', ofDeployments, deployment],
  ['custom resources', ofWidgets, widget],
  ['Deployments, with variables', withVariables, deployment],
  ['Deployments, with params', withParams, deployment, { group: '', version: 'v1', kind: 'ConfigMap' }],
  ['Deployments, with params of no kind', withUnknownParams, deployment, { ...gv, kind: 'Nothing' }],
])('expressions about %s', async (_, rows, kind, param) => {
  const validations = rows.map(([expression]) => ({ expression }));
  const warnings = new Map(
    (await told({ validations, variables }, [kind], param)).map(({ fieldRef, warning }) => [
      fieldRef,
      warning,
    ]),
  );
  const found = rows.map(([expression], i) => [
    expression,
    problems(warnings.get(`spec.validations[${i}].expression`)).join('; '),
  ]);
  expect(found).toEqual(rows);
});

it('of each expression and message all kinds are told, in Kubernetes’ form', async () => {
  const messageExpression = "'n: ' + object.spec.replicas";
  const job = { group: 'batch', version: 'v1', kind: 'Job' };
  const spec = {
    validations: [{ expression: 'object.spec.replicas > 0' }, { expression: 'true', messageExpression }],
  };
  expect(await told(spec, [deployment, job])).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning:
        "batch/v1, Kind=Job: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas > 0\n | ...........^\n",
    },
    {
      fieldRef: 'spec.validations[1].messageExpression',
      warning:
        "apps/v1, Kind=Deployment: ERROR: <input>:1:7: found no matching overload for '_+_' applied to '(string, int)'\n" +
        " | 'n: ' + object.spec.replicas\n | ......^\n\n" +
        "batch/v1, Kind=Job: ERROR: <input>:1:20: undefined field 'replicas'\n" +
        " | 'n: ' + object.spec.replicas\n | ...................^\n",
    },
  ]);
});

it.each<[string, string, number, number, number]>([
  ['all is read where it is short', `object.spec.nope == 1`, 100, 100, 100],
  ['no more is read than so much', `'${'a'.repeat(19_990)}' == ''`, 110, 100, 0],
  ['of the shortest, too', 'true', 21_000, 20_000, 0],
  ['what takes long to read is not', `'${'a'.repeat(20_000)}' == object.spec.nope`, 10, 10, 0],
  ['what is longer as it is written is so', `'${'\u0001'.repeat(9_000)}' == object.spec.nope`, 100, 7, 7],
  ['no more is said than so much', `'${'a'.repeat(9_000)}' == object.spec.nope`, 100, 27, 27],
])('%s, and others come between', async (_, expression, given, read, said) => {
  const type = await known().typeOf(deployment, 'Deployment1');
  if (!type) throw new Error('a built-in kind is known');
  const validations = Array.from({ length: given }, () => ({ expression }));
  let pauses = 0;
  const turn = () => void pauses++;
  const checked = { kinds: [{ name: 'a', type }], params: undefined };
  const warnings = await all({ validations }, checked, turn);
  expect([pauses, warnings.length]).toEqual([read, said]);
});

it('variables that double, and are told of again and again, are told in no more than so much', async () => {
  const type = await known().typeOf(deployment, 'Deployment1');
  if (!type) throw new Error('a built-in kind is known');
  const variables = Array.from({ length: 24 }, (_, i) => ({
    name: `v${i}`,
    expression: i === 0 ? '1' : `{variables.v${i - 1}: variables.v${i - 1}}`,
  }));
  const expression = Array(100).fill('object.metadata.name == variables.v7').join(' || ');
  const kinds = Array.from({ length: 9 }, (_, i) => ({ name: `a${i}`, type }));
  const spec = { variables, validations: [{ expression }] };
  const warnings = await all(spec, { kinds, params: undefined }, noTurn);
  expect(JSON.stringify(warnings).length).toBeLessThan(1_000_000);
});
