import type { Client } from '../../client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { type State, statusOf } from './status.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };

/** What a kubelet tells its API server; of a pod that is gone, or another one by now, nothing. */
export interface Writer {
  report(pod: KubeObject, state: State, podIP: string): Promise<void>;
  remove(pod: KubeObject): Promise<void>;
}

export function writerTo(client: Client): Writer {
  return {
    report: async (pod, state, podIP) => {
      const { name = '', namespace, uid } = pod.metadata;
      const status = statusOf(pod, state, podIP, new Date().toISOString());
      const target = { namespace, name, subresource: 'status' };
      await client.patch(pods, target, 'strategic', { metadata: { uid }, status }).catch(unlessGone);
    },
    remove: async ({ metadata: { name = '', namespace, uid } }) => {
      const how = { gracePeriodSeconds: 0, preconditions: { ...(uid && { uid }) } };
      await client.delete(pods, { namespace, name }, how).catch(unlessGone);
    },
  };
}

function unlessGone(error: unknown): void {
  if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
}
