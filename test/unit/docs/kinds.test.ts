import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import {
  type ClosureKind,
  type PlacedKind,
  type PlacedKindName,
  placedKinds,
  type Reach,
  type RuledKindName,
  type Spread,
  type WorkloadKind,
} from '../../../cluster/kinds.ts';

const page = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'docs/reference/kinds.md'), 'utf8');

const onSeveral: Record<Spread, string> = {
  counts: 'a part of the replicas',
  ranges: 'a range of the ordinals',
  whole: 'all of it',
  bounds: 'a part of the minimum and of the maximum',
  one: 'one cluster has it',
  single: 'one runs it, the others have it suspended',
  batch: 'a part of the completions',
};
/** Copies that differ, though each cluster has one. */
const divided: Partial<Record<PlacedKindName, string>> = {
  PodDisruptionBudget: 'a part of what it allows',
  ResourceQuota: 'a part of what pods may use',
};
const atOnce: Record<PlacedKind['identity'], string> = {
  many: 'yes',
  asked: 'yes, but for `strategy: Recreate` and one replica with a ReadWriteOnce claim',
  once: 'no: it stops first',
};
/** Where it does not move while it runs. */
const stays: Partial<Record<Spread, string>> = { batch: 'no: one that has started stays' };
const because: Record<Reach, string> = {
  named: 'the template of the pods names it',
  serves: 'it selects the pods',
  backs: 'a user wrote it for a Service that goes along',
  routes: 'it leads to a Service that goes along',
  scales: 'it scales the workload',
  covers: 'it selects the pods',
  limits: 'it is about every pod of the Namespace',
};
const inPlace: Record<Exclude<PlacedKindName, RuledKindName>, string> = {
  Deployment: 'its replicas are updated and available',
  StatefulSet: 'its replicas are available, and of the newest revision where all are to be',
  DaemonSet: 'it is updated and available on every node that it is for',
  ReplicaSet: 'its replicas are available',
  ReplicationController: 'its replicas are available',
  Pod: 'it is Ready',
  Job: 'it is there',
  CronJob: 'it is there',
  ConfigMap: 'it is there',
  Secret: 'it is there',
  ServiceAccount: 'it is there',
  PersistentVolumeClaim: 'it is Bound',
  Service: 'of type LoadBalancer: it has an address, as it had before',
  Endpoints: 'it is there',
  EndpointSlice: 'it is there',
  Ingress: 'it is there',
  NetworkPolicy: 'it is there',
  LimitRange: 'it is there',
  ResourceQuota: 'it is there',
  HorizontalPodAutoscaler: 'it is there',
  PodDisruptionBudget: 'it is there',
};

function rowOf(kind: WorkloadKind | ClosureKind): string {
  const name = `\`${kind.resource}${kind.group && `.${kind.group}`}\``;
  const each = divided[kind.kind] ?? onSeveral[kind.spread];
  const third =
    kind.role === 'workload' ? (stays[kind.spread] ?? atOnce[kind.identity]) : because[kind.reach];
  return `| ${[name, each, third, inPlace[kind.kind as keyof typeof inPlace]].join(' | ')} |`;
}

it('kinds.md has a row for every kind that is placed, as the code has it', () => {
  const rows = page.match(/^\| `.*$/gm) ?? [];
  const [workloads, along] = [rowsOf('workload'), rowsOf('closure')];
  expect(rows).toEqual([...workloads, ...along]);
});

function rowsOf(role: PlacedKind['role']): string[] {
  return placedKinds.filter((kind) => kind.role === role).map(rowOf);
}
