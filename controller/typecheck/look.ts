import type { Client } from '../../client/client.ts';
import { isTransportError } from '../../client/errors.ts';
import { type GroupVersionKind, parseApiVersion } from '../../kube/gvk.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { at, numberAt, textAt } from '../../kube/untyped.ts';
import { type Checked, type Warning, warningsOf } from './check.ts';
import { kindsToCheck, kindText } from './decide.ts';
import { Effort, OutOfTime, Unwanted } from './effort.ts';
import { Kinds } from './kinds.ts';

export const policies = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
};

export function isUnchecked({ metadata, status }: KubeObject): boolean {
  return (metadata.generation ?? 0) > (numberAt(status, 'observedGeneration') ?? 0);
}

export interface Check {
  client: Client;
  signal: AbortSignal;
  logger: Logger;
  key: string;
  target: { cluster: string | undefined; name: string };
  /** What gets no answer now is unknown. */
  isLastTry: boolean;
  /** The policy as it is by now, but for what it says. */
  cached(): KubeObject | undefined;
}

/** What was found of a policy as it was. */
export interface Found {
  of: KubeObject;
  warnings: Warning[];
}

/** Undefined where there is nothing to write: it was told before, or is not as it was when this began. */
export async function checked(check: Check): Promise<Found | undefined> {
  const { client, signal, logger, key, target } = check;
  const live = await client.get(policies, target, signal);
  if (!isUnchecked(live)) return undefined;
  const isWanted = () => isAsBefore(live, check.cached());
  const effort = new Effort({ cluster: target.cluster ?? '', isWanted });
  const aside = <T>(answer: Promise<T>) => effort.aside(answer);
  const kinds = new Kinds(client, { cluster: target.cluster, signal, aside });
  const warnings: Warning[] = [];
  try {
    for await (const warning of warn(live, kinds, effort)) warnings.push(warning);
  } catch (error) {
    if (error instanceof Unwanted) return undefined;
    if (signal.aborted || (isNoAnswer(error) && !check.isLastTry)) throw error;
    // What is wrong with its own expressions or kinds is no better the next time.
    if (error instanceof OutOfTime) logger.info({ key }, 'a type check took too long: what it found is told');
    else logger.warn({ err: error, key }, 'a type check failed: what it found is told');
  }
  return { of: live, warnings };
}

function isAsBefore({ metadata }: KubeObject, now: KubeObject | undefined): boolean {
  return metadata.uid === now?.metadata.uid && (now?.metadata.generation ?? 0) <= (metadata.generation ?? 0);
}

function isNoAnswer(error: unknown): boolean {
  return isStatusError(error) || isTransportError(error) || error instanceof DOMException;
}

async function* warn({ spec }: KubeObject, of: Kinds, effort: Effort): AsyncGenerator<Warning> {
  const turn = () => effort.turn();
  const kinds: { name: string; type: Checked['kinds'][number]['type'] }[] = [];
  const named = await kindsToCheck(spec, (resource) => of.kindsFor(resource), turn);
  for (const [i, kind] of named.entries()) {
    const type = await of.typeOf(kind, `${kind.kind}${i + 1}`);
    if (type) kinds.push({ name: kindText(kind), type });
    await turn();
  }
  const paramKind = paramKindOf(spec);
  const params = paramKind && ((await of.typeOf(paramKind, `${paramKind.kind}0`)) ?? null);
  yield* warningsOf(spec, { kinds, params }, turn);
}

function paramKindOf(spec: unknown): GroupVersionKind | undefined {
  if (at(spec, 'paramKind') === undefined) return undefined;
  const kind = textAt(spec, 'paramKind', 'kind') ?? '';
  return { ...parseApiVersion(textAt(spec, 'paramKind', 'apiVersion') ?? ''), kind };
}
