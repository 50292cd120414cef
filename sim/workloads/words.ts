import type { Word } from '../../controller/events.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Plan, Workload } from '../types.ts';
import { failureOf } from './failure.ts';

/** What of a plan was done: neither what was there before nor what was gone already. */
export interface Done {
  created: KubeObject[];
  removed: string[];
  /** Why a child was not made; no more were tried. */
  refused?: Error;
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** What the controllers of Kubernetes say of their workloads when they have done so much. */
export function wordsOf(
  workload: KubeObject,
  children: readonly KubeObject[],
  plan: Plan<KubeObject>,
  done: Done,
): Word[] {
  if (workload.kind === 'Deployment') return scaled(children, plan, done);
  const created = done.created.map(({ metadata: { name = '' } }) =>
    normal('SuccessfulCreate', made(workload, 'create', name)),
  );
  const removed = done.removed.map((name) => normal('SuccessfulDelete', made(workload, 'delete', name)));
  const refused =
    done.refused && !failureOf(workload as Workload)
      ? [{ type: 'Warning' as const, reason: 'FailedCreate', message: failed(workload, done.refused) }]
      : [];
  return [...created, ...removed, ...refused, ...ended(workload, plan)];
}

function made({ kind, metadata }: KubeObject, verb: 'create' | 'delete', name: string): string {
  if (kind === 'StatefulSet') return `${verb} Pod ${name} in StatefulSet ${metadata.name} successful`;
  return `${verb === 'create' ? 'Created' : 'Deleted'} pod: ${name}`;
}

function failed({ kind, metadata }: KubeObject, { message }: Error): string {
  if (kind === 'StatefulSet') return `create Pod in StatefulSet ${metadata.name} failed error: ${message}`;
  return `Error creating: ${message}`;
}

function scaled(children: readonly KubeObject[], plan: Plan<KubeObject>, done: Done): Word[] {
  const scale = (name: string | undefined, from: number, to: number) =>
    from === to
      ? []
      : [
          normal(
            'ScalingReplicaSet',
            `Scaled ${from < to ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`,
          ),
        ];
  const created = done.created.flatMap((set) => scale(set.metadata.name, 0, replicas(set)));
  const patched = plan.patch.flatMap(({ name, body }) => {
    const set = children.find(({ metadata }) => metadata.name === name);
    const to = (body as Partial<Workload>).spec?.replicas;
    return set && to !== undefined ? scale(name, replicas(set), to) : [];
  });
  return [...created, ...patched];
}

/** A Job comes to its end once. */
function ended({ kind, status }: KubeObject, plan: Plan<KubeObject>): Word[] {
  if (kind !== 'Job' || end(status)) return [];
  const now = end(plan.status);
  if (!now) return [];
  if (now.type === 'Complete') return [normal('Completed', 'Job completed')];
  return [{ type: 'Warning', reason: now.reason ?? '', message: now.message ?? '' }];
}

function end(status: unknown): Condition | undefined {
  const { conditions } = (status ?? {}) as { conditions?: Condition[] };
  return conditions?.find(({ type, status }) => status === 'True' && /^(Complete|Failed)$/.test(type));
}

function replicas(set: KubeObject): number {
  return (set as Workload).spec?.replicas ?? 1;
}

function normal(reason: string, message: string): Word {
  return { type: 'Normal', reason, message };
}
