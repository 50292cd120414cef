import { isHeld, isReflected } from '../../../cluster/reflected.ts';
import { deepEqual } from '../../../kube/deep.ts';
import type { ApiResponse } from '../../../kube/http.ts';
import { encodeJson } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, isRecord, listAt, mapAt } from '../../../kube/untyped.ts';
import { isOwnController } from '../../authn/controllers.ts';
import type { ResourceExchange } from '../../core.ts';
import { decodeStored } from '../../registry/codec.ts';
import { adoptAgain } from './adopt-again.ts';
import { contentType } from './answer.ts';
import { ownersPatch, withOwners } from './owners.ts';

/**
 * A change to a pod that runs on a physical cluster is made there first, and its refusal is the answer: what is shown
 * here only follows. `change` makes it here, all checks included: at first as a dry run, to know what it comes to.
 */
export async function changePod(
  exchange: ResourceExchange,
  dryRun: boolean,
  change: (dryRun: boolean) => Promise<KubeObject>,
): Promise<{ refused: ApiResponse } | { object: KubeObject }> {
  const running = dryRun ? undefined : await whereItRuns(exchange);
  if (running === undefined) return { object: await change(dryRun) };
  const after = await change(true);
  const isPod = running.pod.kind === 'Pod';
  const shown = isPod
    ? patchFor(exchange.info.subresource, running.pod, after)
    : claimPatch(running.pod, after);
  const owners = isPod ? await ownersPatch(running.connection, running.pod, after) : undefined;
  const patch = owners ? withOwners(shown, owners) : shown;
  if (patch !== undefined) {
    const { transport, path } = running.connection;
    const { subresource } = exchange.info;
    const response = await transport({
      method: 'PATCH',
      url: subresource === '' ? path : `${path}/${subresource}`,
      headers: { accept: 'application/json', 'content-type': 'application/strategic-merge-patch+json' },
      body: Buffer.from(encodeJson(patch)),
    });
    if (response.status >= 400 && response.status !== 404) {
      return { refused: { ...response, headers: contentType(response) } };
    }
  }
  const object = await change(false);
  if (exchange.info.subresource === '')
    await adoptAgain(exchange, running.pod, object).catch((error: unknown) => {
      // What was asked for is done: an error would say that it is not. Who owns it there shows it again.
      const { message } = error as Error;
      exchange.warnings.add(`what it was taken from could not be made its controller again: ${message}`);
    });
  return { object };
}

const elsewhere = new Set(['pods', 'persistentvolumeclaims']);

/** Labels and annotations of a Pod that is placed itself go the way of its spec. */
async function whereItRuns({ core, info, stored, user }: ResourceExchange) {
  const { group, resource } = stored.info;
  if (core.connectPod === undefined || group !== '' || !elsewhere.has(resource)) return undefined;
  // Who owns a claim is nothing there, where its cluster may be silent; and more of one they never write.
  if (resource === 'persistentvolumeclaims' && isOwnController(user)) return undefined;
  if (!['', 'ephemeralcontainers', 'resize'].includes(info.subresource)) return undefined;
  const entry = await core.registry.read(stored, info).catch(() => undefined);
  const pod = entry && decodeStored(entry);
  if (!pod) return undefined;
  if (isHeld(pod) || (info.subresource === '' && !isReflected(pod))) return undefined;
  const connection = await core.connectPod(info.cluster, pod);
  return connection && { pod, connection };
}

/** Of a claim its request may grow, and it may be labelled; the rest of its spec never changes. */
export function claimPatch(before: KubeObject, after: KubeObject): object | undefined {
  const requests = ({ spec }: KubeObject) => at(spec, 'resources', 'requests');
  const isSame = deepEqual(requests(before), requests(after));
  const grown = isSame ? undefined : { spec: { resources: { requests: requests(after) } } };
  const patch = { ...patchFor('', before, after), ...grown };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Undefined: nothing that concerns the cluster changes. */
export function patchFor(subresource: string, before: KubeObject, after: KubeObject): object | undefined {
  if (subresource === '') {
    const metadata = {
      ...changed('labels', before.metadata.labels, after.metadata.labels),
      ...changed('annotations', before.metadata.annotations, after.metadata.annotations),
    };
    const spec = before.kind === 'Pod' ? specChange(before, after) : {};
    const patch = {
      ...(Object.keys(metadata).length > 0 && { metadata }),
      ...(Object.keys(spec).length > 0 && { spec }),
    };
    return Object.keys(patch).length > 0 ? patch : undefined;
  }
  const lists = subresource === 'resize' ? ['containers', 'initContainers'] : ['ephemeralContainers'];
  const spec = Object.fromEntries(
    lists.flatMap((list) => {
      const old = containers(before, list);
      const items = containers(after, list).filter((one) => !old.some((other) => deepEqual(one, other)));
      const sent = subresource === 'resize' ? items.map(resized) : items;
      return sent.length > 0 ? [[list, sent]] : [];
    }),
  );
  return Object.keys(spec).length > 0 ? { spec } : undefined;
}

const mutable = ['activeDeadlineSeconds', 'terminationGracePeriodSeconds', 'tolerations'];

/** Of what may change while it runs: images, its time, tolerations, gates that go, and where it may go as long as there are some. */
function specChange(before: KubeObject, after: KubeObject): object {
  const [was, is] = [before.spec, after.spec];
  const differs = (...path: string[]) => !deepEqual(at(was, ...path), at(is, ...path));
  const images = (list: string) => {
    const old = containers(before, list);
    const found = containers(after, list).filter((one, i) => one['image'] !== old[i]?.['image']);
    return found.length > 0 && { [list]: found.map(({ name, image }) => ({ name, image })) };
  };
  const whole = mutable.filter((field) => differs(field)).map((field) => [field, at(is, field) ?? null]);
  const affinity = at(is, 'affinity', 'nodeAffinity');
  const nodeAffinity = isRecord(affinity) ? { ...affinity, $patch: 'replace' } : null;
  return {
    ...images('containers'),
    ...images('initContainers'),
    ...Object.fromEntries(whole),
    ...(differs('schedulingGates') && {
      schedulingGates: [{ $patch: 'replace' }, ...listAt(is, 'schedulingGates')],
    }),
    ...changed('nodeSelector', mapAt(was, 'nodeSelector'), mapAt(is, 'nodeSelector')),
    ...(differs('affinity', 'nodeAffinity') && { affinity: { nodeAffinity } }),
  };
}

function containers({ spec }: KubeObject, list: string): Record<string, unknown>[] {
  const items = isRecord(spec) ? spec[list] : undefined;
  return Array.isArray(items) ? items.filter(isRecord) : [];
}

function resized({ name, resources, resizePolicy }: Record<string, unknown>): object {
  return { name, resources, ...(resizePolicy !== undefined && { resizePolicy }) };
}

/** As a merge patch has it: null takes away. */
function changed(
  field: string,
  before: Record<string, string> = {},
  after: Record<string, string> = {},
): object {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const value = (of: Record<string, string>, key: string) => (Object.hasOwn(of, key) ? of[key] : null);
  const entries = keys.flatMap((key) =>
    value(before, key) === value(after, key) ? [] : [[key, value(after, key)] as const],
  );
  return entries.length > 0 ? { [field]: Object.fromEntries(entries) } : {};
}
