import { deepCopy } from '../../../kube/deep.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { admissionFor } from '../../admission/chain.ts';
import type { ResourceExchange } from '../../core.ts';
import type { ConnectOptions } from '../pods/connect-options.ts';

/**
 * Asks admission about a connection, which it sees as PodExecOptions and the like, before it is opened. What it changes of them
 * is not taken: the connection is opened with those that were given. Throws what refuses it.
 */
export async function admitConnection(
  exchange: ResourceExchange,
  kind: string,
  given: ConnectOptions,
): Promise<void> {
  const options = { kind, apiVersion: 'v1', ...given, metadata: {} } as unknown as KubeObject;
  const admission = admissionFor(exchange, 'CONNECT', false, { kind: { group: '', version: 'v1', kind } });
  await admission.mutate(deepCopy(options as unknown as Json) as unknown as KubeObject, undefined);
  await admission.validate(options, undefined);
}
