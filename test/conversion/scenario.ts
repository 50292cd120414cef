import type { Answer, Request } from '../fidelity/case.ts';
import type { Wire } from '../fidelity/wire.ts';
import { definition, definitionName, group, widget, widgets } from './definition.ts';
import type { ConversionWebhook } from './webhook.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field.
type Loose = any;

/** What was answered to a step, without what differs from run to run. */
export interface Told {
  step: string;
  status: number;
  body: unknown;
}

export interface Side {
  wire: Wire;
  hook: ConversionWebhook;
  told: Told[];
}

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const merge = 'application/merge-patch+json';
export const apply = 'application/apply-patch+yaml';

export async function ask(side: Side, step: string, request: Request): Promise<Answer> {
  const answer = await (await side.wire.send(request)).done;
  side.told.push({ step, status: answer.status, body: shown(side, answer) });
  return answer;
}

/** Sends until `holds`, for at most two minutes. */
export async function settle(
  side: Side,
  request: Request,
  holds: (answer: Answer) => boolean,
): Promise<Answer> {
  for (const end = Date.now() + 120_000; ; ) {
    const answer = await (await side.wire.send(request)).done;
    if (holds(answer)) return answer;
    if (Date.now() > end) throw new Error(`${request.method} ${request.path}: ${answer.body.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The definition as it is to be, and until it is served so. */
export async function define(side: Side, storage: string, conversion: object = {}): Promise<void> {
  const wanted = definition(side.hook, storage, conversion);
  const path = `${definitions}/${definitionName}`;
  const there = await (await side.wire.send({ method: 'GET', path })).done;
  if (there.status === 404) {
    await (await side.wire.send({ method: 'POST', path: definitions, body: wanted })).done;
  } else {
    const { resourceVersion } = (there.json as Loose).metadata;
    const body = { ...wanted, metadata: { ...wanted.metadata, resourceVersion } };
    await (await side.wire.send({ method: 'PUT', path, body })).done;
  }
  await settle(side, { method: 'GET', path: widgets('v1') }, ({ status }) => status === 200);
  await settle(side, { method: 'GET', path: `/apis/${group}/v2` }, ({ status }) => status === 200);
  // Of the version that is stored alone it tells a hash; before, Kubernetes may go by the definition that was.
  await settle(side, { method: 'GET', path: `/apis/${group}/${storage}` }, ({ json }) =>
    ((json as Loose).resources as Loose[]).some((one) => one['storageVersionHash'] !== undefined),
  );
}

const dropped = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'time',
  'continue',
  'columnDefinitions',
]);

function shown(side: Side, answer: Answer): unknown {
  const port = new URL(side.hook.url).port;
  const text = answer.body.toString().replaceAll(`:${port}/`, ':PORT/').replaceAll(`:${port}:`, ':PORT:');
  const lines = text.split('\n').filter((line) => line !== '');
  const read = lines.map((line) => {
    try {
      return without(JSON.parse(line));
    } catch {
      return line;
    }
  });
  return read.length === 1 ? read[0] : read;
}

function without(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
      .replace(/^\d+s$/, 'AGE')
      .replace(/(Object 'Kind' is missing in ).*/, '$1...');
  }
  if (Array.isArray(value)) return value.map(without).sort(byManager);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !dropped.has(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, without(item)]));
}

/** Managers of one second are in the order of that second's events. */
function byManager(a: Loose, b: Loose): number {
  const of = (one: Loose) => (one?.fieldsV1 ? `${one.manager} ${one.apiVersion} ${one.operation}` : '');
  return of(a) < of(b) ? -1 : Number(of(a) > of(b));
}

export { widget, widgets };
