import { deepCopy } from '../../../kube/deep.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { admissionFor } from '../../admission/chain.ts';
import type { ResourceExchange } from '../../core.ts';

const switches = ['stdin', 'stdout', 'stderr', 'tty'];

/**
 * Asks admission about a connection, which it sees as PodExecOptions and the like, before it is opened. What it changes of them
 * is not taken: the request goes on as it came. Throws what refuses it.
 */
export async function admitConnection(
  exchange: ResourceExchange,
  kind: string,
  path?: string,
): Promise<void> {
  const { query } = exchange.info;
  const words = (name: string) => query.getAll(name).filter(Boolean);
  const on = switches.filter((name) => query.has(name) && !/^(false|0)$/i.test(query.get(name) ?? ''));
  const given: Record<string, Json> = { kind, apiVersion: 'v1' };
  if (path !== undefined) given['path'] = path;
  else if (kind === 'PodPortForwardOptions') given['ports'] = words('ports').map(Number);
  else {
    for (const name of on) given[name] = true;
    const [container] = words('container');
    if (container) given['container'] = container;
    if (kind === 'PodExecOptions') given['command'] = query.getAll('command');
  }
  const options = { ...given, metadata: {} } as unknown as KubeObject;
  const admission = admissionFor(exchange, 'CONNECT', false, { kind: { group: '', version: 'v1', kind } });
  await admission.mutate(deepCopy(options as unknown as Json) as unknown as KubeObject, undefined);
  await admission.validate(options, undefined);
}
