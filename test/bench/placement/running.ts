import { randomUUID } from 'node:crypto';
import type { KubeObject } from '../../../kube/object.ts';
import { at } from '../../../kube/untyped.ts';
import type { Made, Order } from './messages.ts';
import { listenAs } from './still.ts';
import { deployments, Taking } from './taking.ts';

const replicaSets = '/apis/apps/v1/replicasets';
const pods = '/api/v1/pods';
const events = '/api/v1/events';

type Life = NonNullable<Order['runs']>;

/**
 * Clusters that take Deployments of one pod and run it: each says of Deployment, ReplicaSet and pod what a real one says, step by step and with
 * its Events, and does nothing else, as in taking.ts. Deleted, all of it is there until the pod has stopped.
 */
export async function startRunning(names: readonly string[], life: Life): Promise<Made[]> {
  return await listenAs(names, (name) => {
    const cluster = new Running(name, life);
    return (request, response) => void cluster.answer(request, response);
  });
}

class Running extends Taking {
  readonly #life: Life;
  /** Of a Deployment, and so of the ReplicaSet of its name, its pod. */
  readonly #podOf = new Map<string, string>();

  constructor(name: string, life: Life) {
    super(name);
    this.#life = life;
  }

  override applied({ metadata }: KubeObject): void {
    const key = `${metadata.namespace}/${metadata.name}`;
    const deployment = this.at(deployments, key);
    if (!deployment || deployment.metadata.uid !== metadata.uid) return;
    if (!this.at(replicaSets, key)) this.#make(deployment);
    else
      this.#say(deployment, at(this.at(pods, this.#podOf.get(key) ?? ''), 'status', 'phase') === 'Running');
  }

  #make(deployment: KubeObject): void {
    const { namespace = '', name = '' } = deployment.metadata;
    const { replicas: _, strategy: _strategy, ...rest } = deployment['spec'] as Record<string, unknown>;
    const { metadata: of, spec } = rest['template'] as KubeObject<Record<string, unknown>>;
    const owned = (own: string, owner: KubeObject) => ({
      name: own,
      namespace,
      generation: 1,
      labels: { ...of?.labels, 'pod-template-hash': 'bench' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: owner.kind,
          name,
          uid: owner.metadata.uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    const set = this.put(replicaSets, 'ADDED', {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: owned(name, deployment),
      spec: { replicas: 1, selector: rest['selector'], template: rest['template'] },
      status: { replicas: 0 },
    });
    this.#tellOf(deployment, 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to 1`);
    this.#say(deployment, false);
    const own = `${name}-${randomUUID().slice(0, 5)}`;
    this.#podOf.set(`${namespace}/${name}`, `${namespace}/${own}`);
    const pod = this.put(pods, 'ADDED', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: owned(own, set),
      spec,
      status: { phase: 'Pending' },
    });
    this.#tellOf(set, 'SuccessfulCreate', `Created pod: ${own}`);
    setImmediate(() => this.#bind(pod, deployment));
  }

  #bind(pod: KubeObject, deployment: KubeObject): void {
    const conditions = [condition('PodScheduled', true)];
    const status = { phase: 'Pending', conditions };
    const spec = { ...(pod['spec'] as object), nodeName: 'node-0' };
    const bound = this.put(pods, 'MODIFIED', { ...pod, spec, status });
    this.#tellOf(bound, 'Scheduled', `Successfully assigned ${pod.metadata.name} to node-0`);
    setTimeout(() => this.#start(bound, deployment), this.#life.startMs);
  }

  #start(bound: KubeObject, deployment: KubeObject): void {
    const pod = this.at(pods, `${bound.metadata.namespace}/${bound.metadata.name}`);
    if (!pod || pod.metadata.deletionTimestamp) return;
    const types = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'];
    const state = { running: { startedAt: now() } };
    const container = { name: 'main', image: 'bench', ready: true, started: true, restartCount: 0, state };
    const conditions = types.map((type) => condition(type, true));
    const ip = { podIP: '10.64.0.1', hostIP: '10.0.0.1', startTime: now() };
    const status = { phase: 'Running', ...ip, conditions, containerStatuses: [container] };
    this.put(pods, 'MODIFIED', { ...pod, status });
    for (const reason of ['Pulled', 'Created', 'Started'])
      this.#tellOf(pod, reason, `${reason} container main`);
    this.#say(deployment, true);
  }

  /** How many there are of a Deployment and of its ReplicaSet. */
  #say({ metadata }: KubeObject, isReady: boolean): void {
    const key = `${metadata.namespace}/${metadata.name}`;
    const set = this.at(replicaSets, key);
    const deployment = this.at(deployments, key);
    if (!set || !deployment) return;
    const ready = isReady ? { readyReplicas: 1, availableReplicas: 1 } : {};
    const ofSet = { replicas: 1, fullyLabeledReplicas: 1, observedGeneration: 1, ...ready };
    this.put(replicaSets, 'MODIFIED', { ...set, status: ofSet });
    const status = {
      observedGeneration: deployment.metadata.generation,
      replicas: 1,
      updatedReplicas: 1,
      ...(isReady ? ready : { unavailableReplicas: 1 }),
      conditions: conditionsOf(metadata.name ?? '', isReady),
    };
    this.put(deployments, 'MODIFIED', { ...deployment, status });
  }

  override removed({ metadata }: KubeObject): void {
    const key = `${metadata.namespace}/${metadata.name}`;
    const going = [deployments, replicaSets, pods].flatMap((path) => {
      const object = this.at(path, path === pods ? (this.#podOf.get(key) ?? '') : key);
      if (!object || object.metadata.deletionTimestamp) return [];
      const deleted = { ...object, metadata: { ...object.metadata, deletionTimestamp: now() } };
      return [{ path, object: this.put(path, 'MODIFIED', deleted) }];
    });
    for (const { path, object } of going)
      if (path === pods) this.#tellOf(object, 'Killing', 'Stopping container main');
    const gone = going.reverse();
    setTimeout(() => gone.forEach(({ path, object }) => void this.drop(path, object)), this.#life.stopMs);
  }

  #tellOf({ apiVersion, kind, metadata }: KubeObject, reason: string, message: string): void {
    const { namespace = '', name = '', uid } = metadata;
    this.put(events, 'ADDED', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.${randomUUID().slice(0, 16)}`, namespace },
      involvedObject: { apiVersion, kind, namespace, name, uid },
      type: 'Normal',
      reason,
      message,
      count: 1,
      firstTimestamp: now(),
      lastTimestamp: now(),
      source: { component: 'bench' },
    } as KubeObject);
  }

  override found(path: string): KubeObject | undefined {
    const [, list = '', namespace, resource, name] =
      /^(\/api\/v1|\/apis\/apps\/v1)\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    return name === undefined ? super.found(path) : this.at(`${list}/${resource}`, `${namespace}/${name}`);
  }
}

/** Of a Deployment, of whose one ReplicaSet the pod is ready or not. */
function conditionsOf(set: string, isReady: boolean): Record<string, string>[] {
  const told = (type: string, is: boolean, reason: string, message: string) => ({
    ...condition(type, is),
    lastUpdateTime: now(),
    reason,
    message,
  });
  return [
    isReady
      ? told('Available', true, 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
      : told(
          'Available',
          false,
          'MinimumReplicasUnavailable',
          'Deployment does not have minimum availability.',
        ),
    isReady
      ? told(
          'Progressing',
          true,
          'NewReplicaSetAvailable',
          `ReplicaSet "${set}" has successfully progressed.`,
        )
      : told('Progressing', true, 'ReplicaSetUpdated', `ReplicaSet "${set}" is progressing.`),
  ];
}

function condition(type: string, is: boolean): Record<string, string> {
  return { type, status: is ? 'True' : 'False', lastTransitionTime: now() };
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
