import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { notFound } from '../../kube/status.ts';
import type { Core, ResourceExchange } from '../core.ts';
import { encoded, formOf, respondObject } from '../encode/respond.ts';
import { encodeStored } from '../registry/codec.ts';
import { parseSelection } from '../registry/selectors.ts';
import { listQuery } from './lists/options.ts';
import { shapeList } from './lists/respond.ts';

/** What `kubectl get componentstatuses` has always shown: here the first two are part of this process. */
const components = ['controller-manager', 'scheduler', 'etcd-0'] as const;

/**
 * ComponentStatuses, deprecated since 1.19: made when asked for, stored nowhere, without resourceVersions.
 * https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/component-status-v1/
 */
export async function handleComponents(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, served } = exchange;
  const form = formOf(exchange);
  if (info.name !== '') {
    const name = components.find((one) => one === info.name);
    // kube-apiserver names them otherwise here.
    if (name === undefined) throw notFound({ group: '', resource: 'componentstatus' }, info.name);
    return respondObject(exchange, 200, await statusOf(core, name));
  }
  listQuery(info.query, false);
  const selection = parseSelection(info, served);
  const all = await Promise.all(components.map((name) => statusOf(core, name)));
  const wanted = all.filter(
    (one) =>
      (selection.name === undefined || selection.name === one.metadata.name) &&
      (selection.everything || selection.matches(encodeStored(one), () => one)),
  );
  return encoded(200, shapeList(exchange, form, wanted, {}), form);
}

async function statusOf(core: Core, name: (typeof components)[number]): Promise<KubeObject> {
  const problem = name === 'etcd-0' ? await storeProblem(core) : undefined;
  const condition =
    problem === undefined
      ? { type: 'Healthy', status: 'True', message: 'ok' }
      : { type: 'Healthy', status: 'False', message: problem };
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [condition] };
}

async function storeProblem({ store }: Core): Promise<string | undefined> {
  try {
    await store.get('/ready');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
