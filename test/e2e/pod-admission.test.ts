import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, textAt } from '../../kube/untyped.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { kubectl, must, mustJson, printing, atoll as program, until } from '../atoll/kubectl.ts';
import { workload } from '../atoll/pair.ts';
import { type Hooks, patchOf, startHooks } from '../integration/apiserver/webhook/hooks.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

/** Pods are made by a real Kubernetes, which knows nothing of the policies and webhooks of the logical cluster. */
let kubernetes: Kubernetes;
let atoll: Atoll;
let hooks: Hooks;
const sidecar = { name: 'side', image: 'registry.example/side:1' };

beforeAll(async () => {
  [kubernetes, atoll, hooks] = await Promise.all([
    startKubernetes({ name: 'east', nodes: 1 }),
    startAtoll({ args: ['--egress-allow', '127.0.0.0/8'] }),
    startHooks({ '/pods': () => patchOf([{ op: 'add', path: '/spec/containers/-', value: sidecar }]) }),
  ]);
  const added = await program(
    atoll.kubeconfig,
    'cluster',
    'add',
    'east',
    '--kubeconfig',
    kubernetes.kubeconfig,
  );
  expect(added).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await atoll?.dispose();
  await Promise.all([kubernetes?.stop(), hooks?.close()]);
});

const ctl = (...args: string[]) => must(atoll.kubeconfig, ...args);
const registration = 'admissionregistration.k8s.io/v1';
const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];

async function apply(...objects: object[]): Promise<void> {
  const file = join(atoll.dataDir, 'objects.yaml');
  await writeFile(file, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  await ctl('apply', '-f', file);
}

const policy = [
  {
    apiVersion: registration,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'no-bad' },
    spec: {
      matchConstraints: { resourceRules },
      validations: [
        {
          expression: "!object.spec.containers.exists(c, c.image.startsWith('bad'))",
          message: 'no bad images',
        },
      ],
    },
  },
  {
    apiVersion: registration,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'no-bad' },
    spec: { policyName: 'no-bad', validationActions: ['Deny'] },
  },
];

/** The images of the pods that are ready on the physical cluster, by pod. */
async function running(app: string): Promise<string[]> {
  const { items } = await mustJson<{ items: KubeObject[] }>(
    kubernetes.kubeconfig,
    'get',
    'pods',
    '-A',
    '-l',
    `app=${app}`,
  );
  const isReady = ({ metadata, status }: KubeObject) =>
    metadata.deletionTimestamp === undefined &&
    listAt(status, 'conditions').some((one) => at(one, 'type') === 'Ready' && at(one, 'status') === 'True');
  const imagesOf = ({ spec }: KubeObject) => listAt(spec, 'containers').map((one) => textAt(one, 'image'));
  return items
    .filter(isReady)
    .map((pod) => imagesOf(pod).join(' '))
    .sort();
}

const runs = (app: string, ...images: string[]) =>
  until(`${app} runs ${images.join(', ')}`, 30, async () => {
    return JSON.stringify(await running(app)) === JSON.stringify(images);
  });
const rolledOut = (what: string) => ctl('rollout', 'status', what, '--timeout=120s');
const revisions = async (what: string) => (await ctl('rollout', 'history', what)).match(/^\d+/gm);

test('a refused update leaves what runs, which is scaled and gone back to, and comes once it may', async () => {
  await apply(workload('Deployment', 'web', 2), ...policy);
  await rolledOut('deploy/web');
  await ctl('set', 'image', 'deploy/web', 'c=good:2');
  await rolledOut('deploy/web');
  await runs('web', 'good:2', 'good:2');
  const { stderr } = await kubectl(atoll.kubeconfig, 'set', 'image', 'deploy/web', 'c=bad:3');
  expect(stderr).toContain('no bad images');
  await ctl('wait', '--for=condition=ReplicaFailure', 'deploy/web', '--timeout=60s');
  const waiting = printing(atoll.kubeconfig, 'rollout', 'status', 'deploy/web');
  await until('it is waited for', 20, async () => waiting.text().includes('0 out of 2 new replicas'));
  await waiting.stop();
  expect(await running('web')).toEqual(['good:2', 'good:2']);
  await ctl('scale', 'deploy/web', '--replicas=3');
  await runs('web', 'good:2', 'good:2', 'good:2');
  await until('an Event says why', 10, async () =>
    /Warning +FailedCreate .*no bad images/.test(await ctl('describe', 'deploy/web')),
  );
  await until('its history has it', 10, async () => (await revisions('deploy/web'))?.length === 3);
  await ctl('rollout', 'undo', 'deploy/web');
  expect(await ctl('get', 'deploy/web', '-o', 'jsonpath={..image}')).toBe('good:2');
  await rolledOut('deploy/web');
  await until('its history has it no more', 10, async () => (await revisions('deploy/web'))?.length === 2);
  await ctl('set', 'image', 'deploy/web', 'c=bad:4');
  await ctl('wait', '--for=condition=ReplicaFailure', 'deploy/web', '--timeout=60s');
  await ctl('delete', 'validatingadmissionpolicybinding', 'no-bad');
  await rolledOut('deploy/web');
  await runs('web', 'bad:4', 'bad:4', 'bad:4');
  await until('nothing is said of it any more', 20, async () => {
    return !(await ctl('get', 'deploy/web', '-o', 'jsonpath={.status.conditions[*].type}')).includes(
      'Failure',
    );
  });
});

test('an undo of a StatefulSet that is refused leads to what runs', async () => {
  await apply(workload('StatefulSet', 'db', 1), ...policy);
  await rolledOut('sts/db');
  await ctl('set', 'image', 'sts/db', 'c=good:2');
  await rolledOut('sts/db');
  await runs('db', 'good:2');
  await until('its history is known', 20, async () => (await revisions('sts/db'))?.length === 2);
  await ctl('set', 'image', 'sts/db', 'c=bad:3');
  await until('its history has it', 10, async () => (await revisions('sts/db'))?.length === 3);
  await ctl('rollout', 'undo', 'sts/db');
  expect(await ctl('get', 'sts/db', '-o', 'jsonpath={..image}')).toBe('good:2');
  await rolledOut('sts/db');
  expect(await running('db')).toEqual(['good:2']);
  await ctl('delete', 'validatingadmissionpolicybinding', 'no-bad');
});

test('a webhook’s sidecar is in the pods, and not in what was written', async () => {
  const webhook = {
    name: 'pods.example.com',
    clientConfig: hooks.config('/pods'),
    rules: resourceRules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const kind = 'MutatingWebhookConfiguration';
  await apply({ apiVersion: registration, kind, metadata: { name: 'inject' }, webhooks: [webhook] });
  await apply(workload('Deployment', 'meshed', 2));
  await rolledOut('deploy/meshed');
  const pod = 'registry.example/meshed:1 registry.example/side:1';
  await runs('meshed', pod, pod);
  expect(await ctl('get', 'deploy/meshed', '-o', 'jsonpath={..containers[*].name}')).toBe('c');
  await until('its pods are shown with it', 20, async () => {
    const shown = await ctl('get', 'pods', '-l', 'app=meshed', '--no-headers');
    return shown.match(/ 2\/2 +Running/g)?.length === 2;
  });
  // Who writes it as it was takes nothing away.
  await apply(workload('Deployment', 'meshed', 2));
  await ctl('delete', 'mutatingwebhookconfiguration', 'inject');
  await ctl('scale', 'deploy/meshed', '--replicas=3');
  await runs('meshed', pod, pod, pod);
});
