import type { ServedResource } from '../../apiserver/served.ts';
import type { WebhookCall, WebhookCaller } from '../../apiserver/webhook/call.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import type { Entry } from '../../storage/store.ts';
import { group, widget } from './definition.ts';

/** As the definition has it once it names no webhook any more. */
export const plain = {
  info: { group, version: 'v2', resource: 'widgets', kind: 'Widget', storageVersion: 'v1' },
  schema: { type: 'any' },
} as unknown as ServedResource;
const conversion = {
  name: 'w',
  revision: 1,
  storageVersion: 'v1',
  reviewVersions: ['v1'],
  config: { url: 'https://hook.example.com/' },
  versions: new Map(['v1', 'v2'].map((version) => [version, { ...plain, info: { ...plain.info, version } }])),
};
export const hooked = { ...plain, conversion } as unknown as ServedResource;
export const stored = (name: string, note = ''): Entry => {
  const { kind, apiVersion, metadata, spec } = widget('v1', name, { size: 1, ...(note && { note }) });
  const value = Buffer.from(JSON.stringify({ kind, apiVersion, metadata, spec }));
  return { key: `/w/${name}`, value, revision: 1, created: 1 };
};

/** Converts honestly, and pads each object. */
export function padding(note: string, calls: WebhookCall[]): WebhookCaller {
  const post = async (call: WebhookCall) => {
    calls.push(call);
    const { uid, objects } = call.review['request'] as unknown as { uid: string; objects: KubeObject[] };
    const convertedObjects = objects.map((one) => ({ ...one, apiVersion: `${group}/v2`, spec: { note } }));
    const response = { uid, result: { status: 'Success' }, convertedObjects };
    return { ...call.review, response } as unknown as JsonObject;
  };
  return { post } as unknown as WebhookCaller;
}
