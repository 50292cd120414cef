import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { controllersUser } from '../../../cluster/names.ts';
import { slim } from '../../../controller/slim.ts';
import { runTypeCheckController } from '../../../controller/typecheck/controller.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import { JsonSyntaxError } from '../../../kube/json.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { eventually } from '../../eventually.ts';
import { type Api, admin, startApi } from '../apiserver/api.ts';

const policies = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
};
const definitions = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};
let server: Api;
let client: Client;
let stop: AbortController;
let done: Promise<void>;
/** What the controller is answered in place of the server; undefined: the server answers. */
let meddle: (request: ApiRequest) => Promise<ApiResponse | undefined>;
let logged: unknown[][];

beforeEach(async () => {
  server = startApi();
  client = new Client(server.server.transport(admin), { cluster: 'root' });
  stop = new AbortController();
  for (const cluster of ['root:a', 'root:b']) await server.addCluster(cluster);
  // As whom it runs: what it may not do shows here.
  const transport = server.server.transport(ownUser(controllersUser));
  meddle = async () => undefined;
  logged = [];
  const own = new Client(async (request) => (await meddle(request)) ?? (await transport(request)), {
    cluster: '*',
  });
  const log = (...given: unknown[]) => void logged.push(given);
  const logger = { ...silentLogger, warn: log, info: log };
  const informers = new InformerSet(own, { cluster: '*', signal: stop.signal, keep: slim });
  done = runTypeCheckController({ client: own, informers, signal: stop.signal, logger });
});
afterEach(async () => {
  stop.abort();
  await done;
  await server.close();
});

const policy = (group: string, resource: string, ...expressions: string[]): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] },
      ],
    },
    validations: expressions.map((expression) => ({ expression })),
  },
});

const widgets = (replicas: object): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { replicas } } },
          },
        },
      },
    ],
  },
});

/** The generation that was looked at, and the first line of each warning. */
async function told(cluster: string, generation: number, ...warnings: string[]): Promise<KubeObject> {
  return await eventually(async () => {
    const live = await client.get(policies, { cluster, name: 'p' });
    const { observedGeneration, typeChecking } = live.status as {
      observedGeneration?: number;
      typeChecking?: { expressionWarnings?: { fieldRef: string; warning: string }[] };
    };
    const shown = typeChecking?.expressionWarnings?.map(
      ({ fieldRef, warning }) => `${fieldRef}: ${warning.split('\n')[0]}`,
    );
    expect([observedGeneration, shown ?? []]).toEqual([generation, warnings]);
    return live;
  });
}

test('each generation of a policy is told of its expressions, once', async () => {
  const given = policy('apps', 'deployments', "object.spec.replicas > '1'", 'object.spec.nope == 1');
  await client.create(policies, given, { cluster: 'root:a' });
  const first = await told(
    'root:a',
    1,
    "spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'",
    "spec.validations[1].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nope'",
  );
  const { managedFields = [] } = first.metadata as { managedFields?: object[] };
  expect(managedFields).toContainEqual(
    expect.objectContaining({
      manager: 'validatingadmissionpolicy-status',
      operation: 'Apply',
      subresource: 'status',
    }),
  );
  const right = { validations: [{ expression: 'object.spec.replicas > 1' }] };
  await client.patch(policies, { cluster: 'root:a', name: 'p' }, 'merge', { spec: right });
  // Applied is an empty typeChecking, which goes with what it held: in Kubernetes, too.
  const second = await told('root:a', 2);
  expect(second.status).toEqual({ observedGeneration: 2 });
  // What is no other wish is not looked at again; the next policy is, and comes later.
  await client.patch(policies, { cluster: 'root:a', name: 'p' }, 'merge', {
    metadata: { labels: { a: 'b' } },
  });
  const labelled = await client.get(policies, { cluster: 'root:a', name: 'p' });
  await client.create(policies, policy('apps', 'deployments', 'true'), { cluster: 'root:b' });
  await told('root:b', 1);
  const { metadata } = await client.get(policies, { cluster: 'root:a', name: 'p' });
  expect(metadata.resourceVersion).toBe(labelled.metadata.resourceVersion);
});

test('a custom resource is what the logical cluster’s own definition says', async () => {
  const expression = "object.spec.replicas > '1'";
  for (const [cluster, type] of [
    ['root:a', 'integer'],
    ['root:b', 'string'],
  ] as const) {
    await client.create(definitions, widgets({ type }), { cluster });
    await client.create(policies, policy('example.com', 'widgets', expression), { cluster });
  }
  await told(
    'root:a',
    1,
    "spec.validations[0].expression: example.com/v1, Kind=Widget: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'",
  );
  const { status } = await told('root:b', 1);
  expect(status).toEqual({ observedGeneration: 1, typeChecking: {} });
});

test('of a policy for kinds that nobody serves nothing is said', async () => {
  const given = policy('none.example.com', 'widgets', 'object.spec.nope == 1');
  await client.create(policies, given, { cluster: 'root:a' });
  await told('root:a', 1);
});

const json = (status: number, value: unknown): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value)),
});
const documents = '/openapi/v3/apis/example.com/v1';

test('a check that fails by what is checked has been, and is not tried again', async () => {
  let asked = 0;
  meddle = async ({ url }) => {
    if (!url.includes(documents)) return undefined;
    asked++;
    return { ...json(200, {}), body: Buffer.from('{') };
  };
  await client.create(definitions, widgets({ type: 'integer' }), { cluster: 'root:a' });
  await client.create(policies, policy('example.com', 'widgets', 'object.spec == 1'), { cluster: 'root:a' });
  await told('root:a', 1);
  expect(asked).toBe(1);
  expect(logged).toEqual([
    [expect.objectContaining({ err: expect.any(JsonSyntaxError) }), expect.any(String)],
  ]);
});

test('what is checked no longer says what it did, or is gone: that is not told', async () => {
  let patched: string[] = [];
  let go = () => {};
  let held = 0;
  meddle = async ({ url, method, body }) => {
    if (method === 'PATCH') patched.push(Buffer.from(body ?? []).toString());
    if (!url.includes(documents)) return undefined;
    held++;
    await new Promise<void>((resolve) => {
      go = resolve;
      stop.signal.addEventListener('abort', () => resolve());
    });
    return undefined;
  };
  await client.create(definitions, widgets({ type: 'integer' }), { cluster: 'root:a' });
  const given = policy('example.com', 'widgets', 'object.spec == 1');
  const { metadata } = await client.create(policies, given, { cluster: 'root:a' });
  await expect.poll(() => held).toBe(1);
  const target = { cluster: 'root:a', name: 'p' };
  await client.patch(policies, target, 'merge', { spec: { validations: [{ expression: 'true' }] } });
  // Another is looked at meanwhile, of another logical cluster, after the watch has told of the change.
  await client.create(policies, policy('apps', 'deployments', 'true'), { cluster: 'root:b' });
  await told('root:b', 1);
  patched = [];
  go();
  await expect.poll(() => held).toBe(2);
  expect(patched).toEqual([]);
  await client.delete(policies, target);
  await client.patch(policies, { cluster: 'root:b', name: 'p' }, 'merge', {
    spec: { validations: [{ expression: '1 == 1' }] },
  });
  await told('root:b', 2);
  patched = [];
  go();
  await client.patch(policies, { cluster: 'root:b', name: 'p' }, 'merge', {
    spec: { validations: [{ expression: '2 == 2' }] },
  });
  await told('root:b', 3);
  expect(patched.filter((body) => body.includes(metadata.uid ?? ''))).toEqual([]);
  expect(logged).toEqual([]);
});

test('warnings that cannot be written are left out', async () => {
  meddle = async ({ method, body }) =>
    method === 'PATCH' && Buffer.from(body ?? []).includes('expressionWarnings')
      ? json(413, { kind: 'Status', code: 413, reason: 'RequestEntityTooLarge', message: 'too large' })
      : undefined;
  const given = policy('apps', 'deployments', 'object.spec.nope == 1');
  await client.create(policies, given, { cluster: 'root:a' });
  await told('root:a', 1);
  expect(logged).toEqual([]);
});
