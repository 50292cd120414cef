import type { ServedResource } from '../../apiserver/served.ts';
import type { WebhookCall, WebhookCaller } from '../../apiserver/webhook/call.ts';
import type { Take } from '../../apiserver/webhook/reading.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import type { Entry } from '../../storage/store.ts';
import { group, widget } from './definition.ts';

/** As the definition has it once it names no webhook any more. */
export const plain = {
  info: { group, version: 'v2', resource: 'widgets', kind: 'Widget', storageVersion: 'v1' },
  schema: { type: 'any' },
} as unknown as ServedResource;
export const conversion = {
  name: 'w',
  revision: 1,
  storageVersion: 'v1',
  reviewVersions: ['v1'],
  config: { url: 'https://hook.example.com/' },
  versions: new Map<string, ServedResource>(),
};
for (const version of ['v1', 'v2']) {
  conversion.versions.set(version, { ...plain, info: { ...plain.info, version }, conversion } as never);
}
export const hooked = conversion.versions.get('v2') as ServedResource;
export const stored = (name: string, note = ''): Entry => {
  const { kind, apiVersion, metadata, spec } = widget('v1', name, { size: 1, ...(note && { note }) });
  const value = Buffer.from(JSON.stringify({ kind, apiVersion, metadata, spec }));
  return { key: `/w/${name}`, value, revision: 1, created: 1 };
};

interface Asked {
  uid: string;
  desiredAPIVersion: string;
  objects: KubeObject[];
}

/** Converts honestly, and pads each object. */
export function padding(note: unknown, calls: WebhookCall[]): WebhookCaller {
  const post = async <T>(call: WebhookCall, take: Take<T>): Promise<T> => {
    calls.push(call);
    const { uid, objects, desiredAPIVersion: apiVersion } = call.review['request'] as unknown as Asked;
    const convertedObjects = objects.map((one) => ({ ...one, apiVersion, spec: { note } }));
    const response = { uid, result: { status: 'Success' }, convertedObjects };
    return take({ ...call.review, response } as unknown as JsonObject);
  };
  return { post } as unknown as WebhookCaller;
}
