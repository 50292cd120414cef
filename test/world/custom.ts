import { createHash } from 'node:crypto';
import type { Client } from '../../client/client.ts';
import { type Informer, startInformer } from '../../client/informer.ts';
import { keyOf, objectKey, parseKey } from '../../client/url.ts';
import { commit } from '../../controller/commit.ts';
import { runController } from '../../controller/controller.ts';
import { WorkQueue } from '../../controller/queue.ts';
import { silentLogger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { at, numberAt } from '../../kube/untyped.ts';
import type { Pod, Workload } from '../../sim/types.ts';
import { decideReplicaSet } from '../../sim/workloads/replicaset.ts';
import { resources } from './objects.ts';

const group = 'fleet.example.com';
const pods = resources.pods;

/** Both kinds of this test's own: one makes pods by itself, as a CloneSet does, the other ReplicaSets, as a Rollout. */
export const clonesets = { group, version: 'v1alpha1', resource: 'clonesets' } as const;
export const rollouts = { group, version: 'v1alpha1', resource: 'rollouts' } as const;

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** `versions`: one alone, or with others, the first of which is stored. */
export function definition(
  { resource, kind }: { resource: string; kind: string },
  spec: object = open,
  versions = ['v1alpha1'],
): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: resource, kind },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: open } } },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      })),
    },
  };
}

export const cloneSetDefinition = definition({ resource: 'clonesets', kind: 'CloneSet' });
export const rolloutDefinition = definition({ resource: 'rollouts', kind: 'Rollout' });

export function custom(kind: string, name: string, spec: object, clusters?: string): KubeObject {
  const annotations = clusters === undefined ? {} : { annotations: { 'atoll.dev/clusters': clusters } };
  return {
    apiVersion: `${group}/v1alpha1`,
    kind,
    metadata: { name, namespace: 'default', ...annotations },
    spec,
  };
}

/** What the operators of both kinds do on one physical cluster, until `signal` aborts. */
export function runOperators(client: Client, signal: AbortSignal): Promise<unknown> {
  return Promise.all([
    run(client, signal, clonesets, pods, (set, made) => cloneSet(client, set, made as Pod[])),
    run(client, signal, rollouts, resources.replicasets, (rollout, made) => roll(client, rollout, made)),
  ]);
}

type Reconcile = (object: KubeObject, made: KubeObject[]) => Promise<void>;

async function run(
  client: Client,
  signal: AbortSignal,
  resource: typeof clonesets | typeof rollouts,
  children: typeof pods | typeof resources.replicasets,
  reconcile: Reconcile,
): Promise<void> {
  const queue = new WorkQueue();
  const objects = startInformer(client, resource, { signal });
  const made: Informer = startInformer(client, children, { signal });
  const own = (object: KubeObject) => queue.add(objectKey(object));
  objects.on({ add: own, update: own });
  const ownersOf = (child: KubeObject) =>
    (child.metadata.ownerReferences ?? []).map((owner) =>
      keyOf(parseKey(objectKey(child)).cluster, child.metadata.namespace ?? '', owner.name),
    );
  made.addIndex('owner', ownersOf);
  const ofChild = (child: KubeObject) => {
    for (const key of ownersOf(child)) queue.add(key);
  };
  made.on({ add: ofChild, update: ofChild, delete: ofChild });
  await runController({
    name: `test-${resource.resource}`,
    queue,
    signal,
    logger: silentLogger,
    ready: [objects.synced, made.synced],
    async reconcile(key) {
      const object = objects.get(key);
      if (!object) return;
      await reconcile(
        object,
        made
          .byIndex('owner', key)
          .filter((child) => child.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid)),
      );
    },
  });
}

async function cloneSet(client: Client, set: KubeObject, made: Pod[]): Promise<void> {
  const { create, remove, status } = decideReplicaSet(set as Workload, made, Date.now());
  const { namespace } = set.metadata;
  // Names by number, so that an older cache makes none twice; of this cluster's own set.
  const stem = `${set.metadata.name}-${set.metadata.uid?.slice(0, 5)}`;
  const taken = new Set(made.map(({ metadata }) => metadata.name));
  const free = Array.from({ length: made.length + create.length }, (_, i) => `${stem}-${i}`);
  const names = free.filter((name) => !taken.has(name));
  for (const [index, pod] of create.entries()) {
    const { generateName: _, ...metadata } = pod.metadata;
    const named = { ...pod, metadata: { ...metadata, name: names[index] ?? '' } } as KubeObject;
    await quietly(client.create(pods, named, { namespace }), 'AlreadyExists');
  }
  for (const name of remove) await quietly(client.delete(pods, { namespace, name }), 'NotFound');
  const wanted = {
    ...(status as object),
    selector: `app=${set.metadata.name}`,
    updatedReplicas: numberAt(status, 'replicas') ?? 0,
    phase:
      numberAt(status, 'readyReplicas') === numberAt(set, 'spec', 'replicas') ? 'Healthy' : 'Progressing',
  };
  await quietly(commit(client, clonesets, set, { ...set, status: wanted }), 'NotFound', 'Conflict');
}

/** One ReplicaSet of its template; its counters are named as no other kind's are. */
async function roll(client: Client, rollout: KubeObject, made: KubeObject[]): Promise<void> {
  const { name = '', namespace, uid = '', generation = 0, deletionTimestamp } = rollout.metadata;
  if (deletionTimestamp) return;
  const template = at(rollout.spec, 'workload', 'template') as { metadata?: { labels?: object } };
  const hash = createHash('sha1').update(JSON.stringify(template)).digest('hex').slice(0, 8);
  const replicas = numberAt(rollout.spec, 'size') ?? 1;
  const labels = { ...template.metadata?.labels, hash };
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      ownerReferences: [
        {
          apiVersion: rollout.apiVersion,
          kind: 'Rollout',
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { replicas, selector: { matchLabels: labels }, template: { ...template, metadata: { labels } } },
  } as KubeObject;
  const current = made.find(({ metadata }) => metadata.name === set.metadata.name);
  if (!current) await quietly(client.create(resources.replicasets, set), 'AlreadyExists');
  else if (numberAt(current.spec, 'replicas') !== replicas)
    await quietly(
      commit(client, resources.replicasets, current, {
        ...current,
        spec: { ...(current.spec as object), replicas },
      }),
      'NotFound',
      'Conflict',
    );
  for (const old of made.filter((one) => one !== current))
    await quietly(
      client.delete(resources.replicasets, { namespace, name: old.metadata.name ?? '' }),
      'NotFound',
    );
  const ready = numberAt(current?.status, 'availableReplicas') ?? 0;
  const status = {
    observedGeneration: String(generation),
    pods: { ready, all: numberAt(current?.status, 'replicas') ?? 0 },
    revision: hash,
    phase: ready === replicas ? 'Healthy' : 'Progressing',
    conditions: [
      {
        type: 'Available',
        status: ready >= replicas ? 'True' : 'False',
        reason: 'Counted',
        message: `${ready} of ${replicas}`,
      },
    ],
  };
  await quietly(commit(client, rollouts, rollout, { ...rollout, status }), 'NotFound', 'Conflict');
}

async function quietly(doing: Promise<unknown>, ...reasons: string[]): Promise<void> {
  await doing.catch((error: unknown) => {
    if (!reasons.some((reason) => isStatusError(error, reason as 'NotFound'))) throw error;
  });
}
