import type { PlacedObject } from '../../../cluster/closure.ts';
import { placedKinds } from '../../../cluster/kinds.ts';
import type { KubeObject, ObjectMeta } from '../../../kube/object.ts';

type Fields = { metadata?: ObjectMeta } & Record<string, unknown>;

/** An object of a placed kind; its uid is its kind and name. */
export function placed(kindName: string, name: string, fields: Fields = {}): PlacedObject {
  const kind = placedKinds.find((k) => k.kind === kindName);
  if (!kind) throw new Error(`no kind ${kindName}`);
  const metadata = { namespace: 'shop', uid: `${kindName}-${name}`, ...fields.metadata, name };
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return { kind, object: { ...fields, apiVersion, kind: kindName, metadata } as KubeObject };
}

/** A Deployment of one container. */
export function deployment(
  name: string,
  fields: Fields & { podSpec?: object; replicas?: number } = {},
): PlacedObject {
  const { podSpec = {}, replicas = 1, ...rest } = fields;
  const labels = { app: name };
  const spec = {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...podSpec } },
  };
  return placed('Deployment', name, { spec, ...rest });
}
