import { createHash } from 'node:crypto';
import { registerCluster } from '../../cli/cluster.ts';
import { startInformer } from '../../client/informer.ts';
import {
  clustersAnnotation,
  overflowAnnotation,
  pausedAnnotation,
  spreadAnnotation,
  volumesAnnotation,
} from '../../cluster/names.ts';
import type { Placement } from '../../cluster/types.ts';
import { sleep } from '../../kube/clock.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { loadIdentity } from '../../server/identity.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import { Random } from '../fault/random.ts';
import { deployment, isReady, resources, statefulSet } from '../world/objects.ts';
import { Contents } from './contents.ts';
import { Floor } from './floor.ts';
import { type Action, clusterNames, type History, regions, type Start } from './history.ts';
import { insane } from './liar.ts';
import { Pods } from './pods.ts';
import { Services, serviceOf } from './services.ts';
import { policyOf, resourceOf, unsettled } from './settled.ts';
import type { VirtualTime } from './time.ts';
import { startWorld, type World } from './world.ts';

/** Without faults everything is as it was asked for after so long, rollouts and hand-overs in turn included. */
const settleMs = 20 * 60_000;
const lookMs = 5000;
/** For how long the last faults go on after the last action. */
const lingerMs = 30_000;

export interface Outcome {
  /** What was promised and not kept, a sentence each, with the moment. */
  failures: string[];
  /** What happened, by name. */
  counts: Record<string, number>;
  simulatedMs: number;
  steps: number;
  /** Of all that was done and all that the clusters' pods did, in order: equal for equal histories. */
  digest: string;
}

export async function runHistory(
  time: VirtualTime,
  seed: number,
  history: History,
  logger?: Logger,
): Promise<Outcome> {
  const identity = await loadIdentity(openMemory(), '127.0.0.1', '/nowhere');
  const random = new Random(seed, 2);
  const names = clusterNames;
  const world = await time.until(() =>
    startWorld({
      names,
      identity,
      random,
      seed,
      ...(history.endpoints && { endpoints: history.endpoints }),
      ...(logger && { logger }),
    }),
  );
  const run = new Running(time, world, history);
  await time.until(() => run.begin());
  const check = () => run.check();
  await time.until(() => run.play(), check);
  await time.until(() => run.settle(), check);
  await time.until(() => run.tell());
  world.end();
  return run.outcome();
}

class Running {
  readonly #time: VirtualTime;
  readonly #world: World;
  readonly #history: History;
  readonly #pods = new Pods();
  readonly #services = new Services(() => {
    this.#pods.changed = true;
  });
  readonly #floors: ReadonlyMap<string, Floor>;
  /** Of what a Service selects: what new connections are led to. */
  readonly #reach: ReadonlyMap<string, Floor>;
  readonly #failures: string[] = [];
  readonly #contents = new Contents((text) => this.#fail(text));
  readonly #counts: Record<string, number> = {};
  readonly #digest = createHash('sha256');
  readonly #life = new AbortController();
  #liedUntil = Number.NEGATIVE_INFINITY;

  constructor(time: VirtualTime, world: World, history: History) {
    this.#time = time;
    this.#world = world;
    this.#history = history;
    // A StatefulSet breaks before it makes, and rolls out on each of its clusters at once: it has no such floor.
    const deployments = history.workloads.filter(({ kind }) => kind === 'Deployment');
    const floors = (what: string) =>
      new Map(deployments.map((start) => [start.name, new Floor(start.name, what, start)]));
    this.#floors = floors('ready pods');
    this.#reach = floors('ready pods that a Service leads to');
  }

  /** Until the clusters are joined and all that is there at first is ready. */
  async begin(): Promise<void> {
    const { admin, clusters } = this.#world;
    for (const cluster of clusters.values()) {
      await this.#pods.follow(cluster, this.#life.signal);
      await this.#services.follow(cluster, this.#life.signal);
      if (this.#history.workloads.some(({ copies }) => copies))
        await this.#contents.follow(cluster, this.#life.signal);
      if (Object.hasOwn(this.#history.endpoints ?? {}, cluster.name))
        await this.#services.followEndpoints(cluster, this.#life.signal);
    }
    for (const name of clusters.keys()) while (!(await isReady(admin, name))) await sleep(lookMs);
    for (const [name, region] of Object.entries(regions))
      await admin.patch(resources.physicalclusters, { name }, 'merge', {
        metadata: { labels: { region } },
        spec: { copier: 'simulated' },
      });
    await this.#followStatus();
    for (const start of this.#history.workloads) {
      if (start.served) await admin.create(resources.services, serviceOf(start.name));
      await admin.create(resourceOf[start.kind], objectOf(start));
    }
    await this.settle();
  }

  /** Whatever clusters say, what a user reads is numbers of pods. */
  async #followStatus(): Promise<void> {
    for (const resource of [resources.deployments, resources.statefulsets]) {
      const informer = startInformer(this.#world.admin, resource, { signal: this.#life.signal });
      const look = (root: KubeObject) => {
        const wrong = insane(root);
        if (wrong.length > 0) this.#fail(`${root.metadata.name} says ${wrong.join(', ')}`);
      };
      informer.on({ add: look, update: look });
      await informer.synced;
    }
  }

  /** All that the history has in store, each at its time. */
  async play(): Promise<void> {
    const from = this.#time.elapsed;
    for (const action of this.#history.actions) {
      const left = from + action.at - this.#time.elapsed;
      if (left > 0) await sleep(left);
      this.#note(action.do, JSON.stringify(action));
      await this.#do(action);
      await this.#rejoin();
    }
    await sleep(lingerMs);
  }

  /** Without faults from here on, until all is as it was asked for. */
  async settle(): Promise<void> {
    for (const { wire } of this.#world.components.values()) wire.heal();
    this.#world.copier.fails = false;
    await this.#retry();
    for (const { name } of this.#history.workloads) await this.#pause(name, false);
    await this.#pause('', false);
    for (const [name, liar] of this.#world.liars) if (liar.hasLied) await this.#comeToSenses(name);
    const until = this.#time.elapsed + settleMs;
    let last = '';
    for (let calm = 0; calm < 3; ) {
      await sleep(lookMs);
      await this.#rejoin();
      const wrong = await unsettled(this.#world, this.#pods, this.#services, this.#history.workloads);
      calm = wrong.length === 0 ? calm + 1 : 0;
      if (wrong.join('; ') !== last) {
        last = wrong.join('; ');
        if (this.#time.elapsed > until - settleMs / 2) this.#digest.update(last);
      }
      if (this.#time.elapsed < until || wrong.length === 0) continue;
      for (const text of wrong)
        this.#fail(`not settled ${settleMs / 60_000} minutes after the last fault: ${text}`);
      return;
    }
  }

  /** How many are in the end where a rebalance has brought them. */
  async tell(): Promise<void> {
    const all = await this.#world.admin.list<Placement>(resources.placements, { namespace: 'default' });
    const brought = all.items.filter(({ spec }) => spec?.rebalancedAt !== undefined).length;
    if (brought > 0) this.#counts['brought'] = brought;
  }

  /** It says anew how all is that it lied about. */
  async #comeToSenses(name: string): Promise<void> {
    this.#world.liars.get(name)?.stop();
    const client = this.#world.clusters.get(name)?.client;
    const body = { metadata: { annotations: { honest: 'again' } } };
    for (const resource of [resources.deployments, resources.statefulsets, resources.pods])
      for (const { metadata } of (await client?.list(resource))?.items ?? []) {
        const { namespace = '', name = '' } = metadata;
        await client?.patch(resource, { namespace, name }, 'merge', body).catch(ignore);
      }
  }

  /** After every step of anybody. */
  check(): void {
    if (!this.#pods.changed) return;
    this.#pods.changed = false;
    this.#digest.update(`${this.#time.elapsed}`);
    this.#checkLeft();
    for (const [app, floor] of this.#floors) {
      const [ready, reached] = [this.#pods.ready(app), this.#services.reached(this.#pods, app)];
      this.#digest.update(` ${app}=${ready}/${reached}`);
      const now = this.#time.elapsed;
      for (const text of [floor.check(ready, now), this.#reach.get(app)?.check(reached, now)])
        if (text) this.#fail(text);
    }
    for (const { kind, name } of this.#history.workloads) {
      const twins =
        kind === 'StatefulSet' && this.#time.elapsed > this.#liedUntil ? this.#pods.twins(name) : [];
      if (twins.length > 0) this.#fail(`two clusters have a pod ${twins.join(', ')} at once`);
    }
  }

  /** Where others are there to be led to, nobody is led any more to what goes. */
  #checkLeft(): void {
    for (const { cluster, app, reached } of this.#services.left()) {
      const isElsewhere = this.#services.reached(this.#pods, app) > 0;
      if (reached > 0 && isElsewhere && this.#reach.get(app)?.isCalm)
        this.#fail(`${app} went from ${cluster} while its Service there led to ${reached} pods of it`);
    }
  }

  outcome(): Outcome {
    this.#life.abort();
    const died = [...this.#world.components.values()].reduce((sum, { deaths }) => sum + deaths, 0);
    return {
      failures: this.#failures,
      counts: { ...this.#counts, died },
      simulatedMs: this.#time.elapsed,
      steps: this.#time.steps,
      digest: this.#digest.digest('hex'),
    };
  }

  async #do(action: Action): Promise<void> {
    const { admin, components } = this.#world;
    const now = this.#time.elapsed;
    switch (action.do) {
      case 'place': {
        const value = action.on === '' ? null : action.on;
        return await this.#change(action.workload, {
          metadata: { annotations: { 'atoll.dev/clusters': value } },
        });
      }
      case 'scale':
        for (const floor of this.#floorsOf(action.workload)) floor.scale(action.to, now);
        return await this.#change(action.workload, { spec: { replicas: action.to } });
      case 'roll':
        return await this.#change(action.workload, {
          spec: { template: { spec: { containers: [{ name: 'c', image: action.image }] } } },
        });
      case 'create':
      case 'delete':
        return await this.#exist(action.workload, action.do === 'create');
      case 'serve':
      case 'unserve':
        return await this.#serve(action.workload, action.do === 'serve');
      case 'fail':
        return await this.#failPod(action.workload, action.on);
      case 'cordon':
      case 'drain':
      case 'open': {
        const spec = { unschedulable: action.do !== 'open', drain: action.do === 'drain' };
        await admin.patch(resources.physicalclusters, { name: action.on }, 'merge', { spec }).catch(ignore);
        return;
      }
      case 'rebalance':
        await admin
          .patch(resources.physicalclusters, { name: action.on }, 'merge', { spec: { rebalance: action.is } })
          .catch(ignore);
        return;
      case 'die':
        return components.get(action.who)?.dieAt(action);
      case 'cut':
        return components.get(action.who)?.wire.cut(action.ms);
      case 'stale':
        return components.get(action.who)?.wire.stale(action.ms);
      case 'slow':
        return components.get(action.who)?.wire.slow(action.each, action.ms);
      case 'rewatch':
        return components.get(action.who)?.wire.breakWatches(action.forget);
      case 'stall':
        return components.get(action.who)?.wire.stall(action.ms);
      case 'policy':
        return await this.#policy(action);
      case 'spread': {
        const annotations = { [spreadAnnotation]: action.over === '' ? null : action.over };
        return await this.#change(action.workload, { metadata: { annotations } });
      }
      case 'region': {
        const labels = { region: action.is === '' ? null : action.is };
        await admin
          .patch(resources.physicalclusters, { name: action.on }, 'merge', { metadata: { labels } })
          .catch(ignore);
        return;
      }
      case 'overflow': {
        const annotations = { [overflowAnnotation]: action.is === '' ? null : action.is };
        return await this.#change(action.workload, { metadata: { annotations } });
      }
      case 'capacity': {
        const spec = { capacity: action.pods === 0 ? null : { pods: String(action.pods) } };
        await admin.patch(resources.physicalclusters, { name: action.on }, 'merge', { spec }).catch(ignore);
        return;
      }
      case 'taint': {
        const taints = action.effect === '' ? null : [{ key: 'example.com/away', effect: action.effect }];
        await admin
          .patch(resources.physicalclusters, { name: action.on }, 'merge', { spec: { taints } })
          .catch(ignore);
        return;
      }
      case 'pause':
        return await this.#pause(action.workload, action.is);
      case 'home': {
        const annotations = { [clustersAnnotation]: action.on === '' ? null : action.on };
        await admin
          .patch(resources.namespaces, { name: 'default' }, 'merge', { metadata: { annotations } })
          .catch(ignore);
        return;
      }
      case 'group': {
        const labels = { 'app.kubernetes.io/part-of': action.is ? 'all' : null };
        return await this.#change(action.workload, { metadata: { labels } });
      }
      case 'meddle':
        return await this.#meddle(action);
      case 'remove':
        await admin.delete(resources.physicalclusters, { name: action.on }).catch(ignore);
        return;
      case 'retry':
        return await this.#retry();
      case 'lie':
        return this.#lie(action.on, action.ms);
    }
  }

  async #pause(workload: string, is: boolean): Promise<void> {
    const body = { metadata: { annotations: { [pausedAnnotation]: is ? 'true' : null } } };
    if (workload !== '') return await this.#change(workload, body);
    await this.#world.admin.patch(resources.namespaces, { name: 'default' }, 'merge', body);
  }

  /** Pods that it takes are not ours to keep; those that it adds may be what another cluster has. */
  async #meddle({ workload, on, to }: Extract<Action, { do: 'meddle' }>): Promise<void> {
    const now = this.#time.elapsed;
    const { client } = this.#world.clusters.get(on) ?? {};
    const resource = resourceOf[this.#start(workload).kind];
    for (const { metadata } of (await client?.list(resource))?.items ?? []) {
      const { namespace = '', name = '' } = metadata;
      if (name !== workload) continue;
      this.#liedUntil = Math.max(this.#liedUntil, now + lingerMs);
      for (const floor of this.#floorsOf(workload)) floor.trouble(now);
      await client?.patch(resource, { namespace, name }, 'merge', { spec: { replicas: to } }).catch(ignore);
    }
  }

  /** What was removed, and is gone. */
  async #rejoin(): Promise<void> {
    const { admin, clusters } = this.#world;
    const { items } = await admin.list(resources.physicalclusters);
    for (const name of clusters.keys()) {
      if (items.some(({ metadata }) => metadata.name === name)) continue;
      await registerCluster(admin, name, 'simulated');
      const labels = { region: Object.entries(regions).find(([cluster]) => cluster === name)?.[1] ?? '' };
      await admin.patch(resources.physicalclusters, { name }, 'merge', {
        metadata: { labels },
        spec: { copier: 'simulated' },
      });
    }
  }

  /** As a user does who reads that it was not copied. */
  async #retry(): Promise<void> {
    const { admin } = this.#world;
    for (const { metadata } of (await admin.list(resources.volumecopies)).items)
      await admin
        .delete(resources.volumecopies, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' })
        .catch(ignore);
  }

  async #policy({ workload, spec, free }: Extract<Action, { do: 'policy' }>): Promise<void> {
    const { admin } = this.#world;
    const at = { namespace: 'default', name: policyOf(workload) };
    await admin.delete(resources.placementpolicies, at).catch(ignore);
    const apiVersion = 'atoll.dev/v1alpha1';
    if (spec)
      await admin
        .create(resources.placementpolicies, { apiVersion, kind: 'PlacementPolicy', metadata: at, spec })
        .catch(ignore);
    if (free) await this.#change(workload, { metadata: { annotations: { [clustersAnnotation]: null } } });
  }

  /** What others do on the strength of lies is nobody's fault; afterwards all has to be well again. */
  #lie(on: string, ms: number): void {
    const now = this.#time.elapsed;
    this.#liedUntil = Math.max(this.#liedUntil, now + ms + lingerMs);
    for (const name of this.#floors.keys())
      for (const floor of this.#floorsOf(name)) floor.trouble(this.#liedUntil);
    this.#world.liars.get(on)?.lie(ms);
  }

  #start(workload: string): Start {
    const found = this.#history.workloads.find(({ name }) => name === workload);
    if (!found) throw new Error(`there is no workload ${workload} in this history`);
    return found;
  }

  /** As a user does who finds that it is deleted, or that what they wrote is refused: nothing. */
  async #change(workload: string, body: object): Promise<void> {
    const { kind, name } = this.#start(workload);
    const at = { namespace: 'default', name };
    await this.#world.admin.patch(resourceOf[kind], at, 'merge', body).catch(ignore);
  }

  async #exist(workload: string, isThere: boolean): Promise<void> {
    const { admin } = this.#world;
    const start = this.#start(workload);
    const resource = resourceOf[start.kind];
    if (!isThere) {
      for (const floor of this.#floorsOf(workload)) floor.begin(0, this.#time.elapsed);
      await admin.delete(resource, { namespace: 'default', name: workload }).catch(ignore);
      return;
    }
    const made = await admin.create(resource, objectOf(start)).catch(ignore);
    if (made) for (const floor of this.#floorsOf(workload)) floor.begin(start.replicas, this.#time.elapsed);
  }

  #floorsOf(workload: string): Floor[] {
    return [this.#floors, this.#reach].flatMap((all) => all.get(workload) ?? []);
  }

  async #serve(app: string, isServed: boolean): Promise<void> {
    const { admin } = this.#world;
    this.#reach.get(app)?.trouble(this.#time.elapsed);
    await (isServed
      ? admin.create(resources.services, serviceOf(app))
      : admin.delete(resources.services, { namespace: 'default', name: app })
    ).catch(ignore);
  }

  /** A pod that served is gone, as when its node dies. */
  async #failPod(app: string, on: string): Promise<void> {
    const [pod] = this.#pods.serving(on, app);
    if (!pod) return;
    for (const floor of this.#floorsOf(app)) floor.trouble(this.#time.elapsed);
    const { name = '', namespace = '' } = pod.metadata;
    const how = { gracePeriodSeconds: 0 };
    await this.#world.clusters.get(on)?.client.delete(resources.pods, { namespace, name }, how).catch(ignore);
  }

  #note(name: string, text: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
    this.#digest.update(`${this.#time.elapsed} ${text}`);
  }

  #fail(text: string): void {
    this.#failures.push(`after ${(this.#time.elapsed / 1000).toFixed(1)} s: ${text}`);
  }
}

function objectOf({ kind, name, replicas, on, maxUnavailable, copies }: Start): KubeObject {
  if (kind === 'StatefulSet')
    return copies ? withClaims(statefulSet(name, replicas, on)) : statefulSet(name, replicas, on);
  const object = deployment(name, replicas, on);
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge: '25%' } };
  return { ...object, spec: { ...(object.spec as object), strategy, progressDeadlineSeconds: 3600 } };
}

function withClaims(set: KubeObject): KubeObject {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec }];
  const annotations = { ...set.metadata.annotations, [volumesAnnotation]: 'copy' };
  return {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...(set.spec as object), volumeClaimTemplates },
  };
}

/** A refusal is an answer: it is not there, it is there already, or nobody may say that. */
function ignore(error: unknown): undefined {
  if (!isStatusError(error)) throw error;
  return undefined;
}
