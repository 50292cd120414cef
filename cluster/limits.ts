import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { openapiOf } from '../kube/openapi/own.ts';
import { approximateQuantity, parseQuantity, QuantityError } from '../kube/quantity.ts';
import type { ObjectSchema } from '../kube/schema/schema.ts';
import type { StatusCause } from '../kube/status.ts';
import { getOwn, isRecord } from '../kube/untyped.ts';
import { validateSchema } from '../kube/validation/custom/schema.ts';
import { Field } from '../kube/validation/field.ts';
import { validateCreate, validateUpdate } from '../kube/validation/index.ts';
import { dns1123Label, notNegative } from '../kube/validation/rules.ts';
import { workspaces } from './names.ts';
import { type Fields, int64, intOrString, object } from './schema.ts';
import { texts } from './texts.ts';

/** What is stored in a logical cluster, and counted. */
export const counted = ['objects', 'bytes', 'customResourceDefinitions', 'webhooks'] as const;
export type Counted = (typeof counted)[number];

/** spec.limits of a Workspace: what its logical cluster, with all below it, may use. Absent: the server's own settings. */
export interface ClusterLimits {
  objects?: number;
  bytes?: number | string;
  customResourceDefinitions?: number;
  webhooks?: number;
  requestsPerSecond?: number;
  requestBurst?: number;
  watches?: number;
}

export type LimitName = keyof ClusterLimits;
export type Bounds = Partial<Record<LimitName, number>>;

/** Written into what is read of a LogicalCluster or Workspace, and never stored. */
export interface ClusterUse {
  hard?: ClusterLimits;
  used?: Partial<Record<LimitName, number | string>>;
}

export const limitsSchema = object(
  {
    objects: int64,
    bytes: intOrString,
    customResourceDefinitions: int64,
    webhooks: int64,
    requestsPerSecond: int64,
    requestBurst: int64,
    watches: int64,
  } satisfies Fields<ClusterLimits>,
  texts.limits,
);

const kind = { ...workspaces, kind: 'Workspace', namespaced: false };

/** Of a Workspace as kcp has it nothing is looked at but its name and limits. What an update leaves as it was may stay. */
export function validateWorkspace(
  workspace: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): StatusCause[] {
  const causes = old
    ? validateUpdate(workspace, old, kind, subresource === '' ? undefined : subresource)
    : validateCreate(workspace, kind);
  // A name of more leads nowhere: a path has labels.
  if (!old && causes.length === 0)
    dns1123Label(workspace.metadata.name ?? '', new Field(causes).child('metadata', 'name'));
  const limits = limitsOf(workspace);
  if (subresource !== '' || limits === undefined || deepEqual(limits, old && limitsOf(old))) return causes;
  return [...causes, ...validateLimits(limits, limitsSchema)];
}

function validateLimits(limits: unknown, schema: ObjectSchema): StatusCause[] {
  const causes = validateSchema(limits, openapiOf(schema), 'spec.limits');
  if (causes.length > 0 || !isRecord(limits)) return causes;
  const field = new Field(causes).child('spec', 'limits');
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== 'number' && typeof value !== 'string' && typeof value !== 'bigint') continue;
    const least = name === 'requestsPerSecond' || name === 'requestBurst' ? 1 : 0;
    const amount = amountOf(value);
    if (amount instanceof QuantityError) field.child(name).invalid(value, amount.message);
    else if (amount < least)
      field.child(name).invalid(value, least === 0 ? notNegative : 'must be greater than zero');
  }
  if (limits['requestBurst'] !== undefined && limits['requestsPerSecond'] === undefined)
    field.child('requestBurst').forbidden('may only be set with requestsPerSecond');
  return causes;
}

export function limitsOf({ spec }: KubeObject): unknown {
  return isRecord(spec) ? spec['limits'] : undefined;
}

/** In numbers; what cannot be read bounds nothing. */
export function boundsOf(limits: unknown): Bounds {
  const bounds: Bounds = {};
  if (!isRecord(limits)) return bounds;
  for (const name of limitsSchema.fields.keys()) {
    const value = getOwn(limits, name);
    const amount = typeof value === 'number' || typeof value === 'string' ? amountOf(value) : undefined;
    if (typeof amount === 'number') bounds[name as LimitName] = amount;
  }
  return bounds;
}

function amountOf(value: number | string | bigint): number | QuantityError {
  try {
    return approximateQuantity(parseQuantity(value));
  } catch (error) {
    if (error instanceof QuantityError) return error;
    throw error;
  }
}

/** `12/1000`; without a limit `12`; `-` where nobody counts. */
export function shownUse({ status }: KubeObject, name: LimitName): string {
  const { hard = {}, used = {} } = (status ?? {}) as ClusterUse;
  const show = (value: number | string | undefined) =>
    name === 'bytes' && value !== undefined ? shownBytes(value) : String(value ?? '-');
  return hard[name] === undefined ? show(used[name]) : `${show(used[name])}/${show(hard[name])}`;
}

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti'];

/** Rounded up to a whole number of the largest unit that leaves two digits. */
function shownBytes(value: number | string): string {
  const amount = amountOf(value);
  let bytes = amount instanceof QuantityError ? 0 : amount;
  let unit = 0;
  for (; unit < units.length - 1 && (bytes >= 10 * 1024 || (bytes >= 1024 && bytes % 1024 === 0)); unit++)
    bytes /= 1024;
  return `${Math.ceil(bytes)}${units[unit]}`;
}
