import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { type Done, wordsOf } from '../../../sim/workloads/words.ts';
import { workload } from './make.ts';

const named = (name: string, replicas?: number): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Any', metadata: { name }, spec: { replicas } }) as KubeObject;
const condition = (type: string, reason: string, message: string) => ({
  type,
  status: 'True',
  reason,
  message,
});

interface Row {
  what: string;
  of: KubeObject;
  children?: KubeObject[];
  patch?: { name: string; body: object }[];
  status?: Record<string, unknown>;
  done?: Partial<Done>;
  said: string[];
}

const complete = { conditions: [condition('Complete', 'CompletionsReached', 'x')] };
const failed = { conditions: [condition('Failed', 'DeadlineExceeded', 'It was active for too long.')] };

const rows: Row[] = [
  {
    what: 'a ReplicaSet says what it made, and why it made no more',
    of: workload('ReplicaSet', {}),
    done: { created: [named('web-1')], refused: new Error('exceeded quota') },
    said: [
      'Normal SuccessfulCreate: Created pod: web-1',
      'Warning FailedCreate: Error creating: exceeded quota',
    ],
  },
  {
    what: 'a Deployment scales what it makes and what it has, but only what it renumbers is no news',
    of: workload('Deployment', {}),
    children: [named('web-a', 4), named('web-b', 1)],
    patch: [
      { name: 'web-a', body: { spec: { replicas: 3 } } },
      { name: 'web-b', body: { metadata: { annotations: {} } } },
    ],
    done: { created: [named('web-c', 2), named('web-d', 0)] },
    said: [
      'Normal ScalingReplicaSet: Scaled up replica set web-c from 0 to 2',
      'Normal ScalingReplicaSet: Scaled down replica set web-a from 4 to 3',
    ],
  },
  {
    what: 'a ReplicaSet, of what was done only',
    of: workload('ReplicaSet', {}),
    done: { created: [named('web-1')], removed: ['web-0'] },
    said: ['Normal SuccessfulCreate: Created pod: web-1', 'Normal SuccessfulDelete: Deleted pod: web-0'],
  },
  {
    what: 'a StatefulSet, in its own words',
    of: workload('StatefulSet', {}),
    done: { created: [named('web-1')], removed: ['web-0'] },
    said: [
      'Normal SuccessfulCreate: create Pod web-1 in StatefulSet web successful',
      'Normal SuccessfulDelete: delete Pod web-0 in StatefulSet web successful',
    ],
  },
  {
    what: 'a Job that completes',
    of: workload('Job', {}),
    status: complete,
    said: ['Normal Completed: Job completed'],
  },
  {
    what: 'a Job that fails',
    of: workload('Job', {}),
    status: failed,
    said: ['Warning DeadlineExceeded: It was active for too long.'],
  },
  {
    what: 'a Job that was complete before',
    of: workload('Job', {}, { status: complete }),
    status: complete,
    said: [],
  },
];

test.each(rows)('$what', ({ of, children = [], patch = [], status = {}, done, said }) => {
  const plan = { create: [], remove: [], patch, status };
  const words = wordsOf(of, children, plan, { created: [], removed: [], ...done });
  expect(words.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual(said);
});
