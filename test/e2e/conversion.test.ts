import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { definitionName } from '../conversion/definition.ts';
import { saidOfConversion } from '../conversion/definitions.ts';
import { definitions, type Side, settle } from '../conversion/scenario.ts';
import { failures, storageVersion, verbs, watching } from '../conversion/steps.ts';
import { startConversionWebhook } from '../conversion/webhook.ts';
import { connect, type Wire } from '../fidelity/wire.ts';
import { logicalCluster } from '../fidelity/workspace.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

let kubernetes: Kubernetes[];
let atoll: Atoll;
let wires: Wire[];
let sides: Side[];

beforeAll(async () => {
  // What a cache answers while objects cannot be converted depends on when it asked for them last.
  const direct = startKubernetes({ apiOnly: true, flags: ['--watch-cache=false'] });
  const cached = startKubernetes({ apiOnly: true });
  const args = ['--egress-allow', '127.0.0.0/8'];
  [atoll, ...kubernetes] = await Promise.all([startAtoll({ args }), direct, cached]);
  const tenant = await logicalCluster(atoll, 'team-a');
  wires = await Promise.all([...kubernetes.map((one) => one.kubeconfig), tenant].map(connect));
});

afterAll(async () => {
  for (const wire of wires ?? []) wire.close();
  await Promise.all([...(kubernetes ?? []).map((one) => one.stop()), atoll?.dispose()]);
});

beforeEach(async () => {
  sides = await Promise.all(
    wires.map(async (wire) => ({ wire, hook: await startConversionWebhook(), told: [] })),
  );
  return async () => {
    const path = `${definitions}/${definitionName}`;
    for (const { wire, hook } of sides) {
      Object.assign(hook, { lie: undefined, raw: undefined });
      await (await wire.send({ method: 'DELETE', path })).done;
    }
    for (const side of sides) {
      await settle(side, { method: 'GET', path }, ({ status }) => status === 404);
      await side.hook.close();
    }
  };
});

/** Of a Kubernetes that answers what is stored, or of one with its usual cache, and here. */
async function told<T>(steps: (side: Side) => Promise<T>, from: 'store' | 'cache' = 'store') {
  const compared = [sides[from === 'store' ? 0 : 1], sides[2]].filter((side) => side !== undefined);
  const came = await Promise.all(compared.map(steps));
  const [there, here] = compared;
  if (there === undefined || here === undefined) throw new Error('two sides are compared');
  return { there: there.told, here: here.told, came, authorities: [there.hook.caBundle, here.hook.caBundle] };
}

test('what is written in one version is read in another as on Kubernetes, by every verb', async () => {
  const { there, here } = await told(verbs);
  expect(here).toEqual(there);
});

test('a webhook that fails, and one that lies, is answered as on Kubernetes', async () => {
  const { there, here } = await told(failures);
  // What an object that lies twice is to whoever owns its fields is not compared.
  expect(withoutManagers(here)).toEqual(withoutManagers(there));
});

test('what is stored in a former version is converted as on Kubernetes', async () => {
  const { there, here } = await told(storageVersion);
  expect(here).toEqual(there);
});

test('what may be said of a conversion is what Kubernetes lets be said', async () => {
  const { there, here, authorities } = await told(saidOfConversion);
  const [theirs = '', ours = ''] = authorities;
  const without = (authority: string, what: unknown) =>
    JSON.parse(JSON.stringify(what).replaceAll(authority, 'CA'));
  expect(without(ours, here)).toEqual(without(theirs, there));
});

test('a watch is told what its version is, and when nobody can tell', async () => {
  const { there, here, came } = await told((side) => watching(side, side === sides[2]), 'cache');
  expect(here).toEqual(there);
  const before = [
    ['ADDED', 'second'],
    ['ADDED', 'third'],
    ['ADDED', 'fourth'],
    ['DELETED', 'third'],
  ];
  // Kubernetes says nothing and tries for ever; here whoever watches knows.
  const why = 'conversion webhook for conversion.example.com/v1, Kind=Widget failed: no way';
  expect(came).toEqual([before, [...before, ['ERROR', why]]]);
});

function withoutManagers(told: unknown): unknown {
  return JSON.parse(JSON.stringify(told, (key, value) => (key === 'managedFields' ? undefined : value)));
}
