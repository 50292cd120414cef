import type { KubeObject } from '../../../kube/object.ts';
import { isRecord } from '../../../kube/untyped.ts';
import { type ClientConfig, clientConfigOf } from '../../webhook/reference.ts';
import { type Selecting, selectingOf } from '../matching/selecting.ts';

/** One webhook of a configuration, ready to be asked. */
export interface Hook extends Selecting {
  /** Unique within a logical cluster, for reinvocation. */
  id: string;
  /** Of which it is one. */
  configuration: string;
  name: string;
  config: ClientConfig;
  ignoreFailure: boolean;
  sideEffects: string;
  timeoutSeconds: number;
  reviewVersions: string[];
  reinvoke: boolean;
  matchConditions: { name: string; expression: string }[];
}

/** The webhooks of a Mutating- or ValidatingWebhookConfiguration as it is stored, defaults filled in. */
export function hooksOf(configuration: KubeObject): Hook[] {
  const webhooks = Array.isArray(configuration['webhooks']) ? configuration['webhooks'] : [];
  return webhooks.filter(isRecord).map((raw, index) => hookOf(raw, configuration.metadata.name ?? '', index));
}

function hookOf(raw: Record<string, unknown>, configuration: string, index: number): Hook {
  return {
    id: `${configuration}/${String(raw['name'])}/${index}`,
    configuration,
    name: String(raw['name'] ?? ''),
    config: clientConfigOf(raw['clientConfig']),
    ...selectingOf(raw, 'rules'),
    ignoreFailure: raw['failurePolicy'] === 'Ignore',
    sideEffects: String(raw['sideEffects'] ?? ''),
    timeoutSeconds: Number(raw['timeoutSeconds'] ?? 10),
    reviewVersions: strings(raw['admissionReviewVersions']),
    reinvoke: raw['reinvocationPolicy'] === 'IfNeeded',
    matchConditions: listOf(raw['matchConditions']) as { name: string; expression: string }[],
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function strings(value: unknown): string[] {
  return listOf(value).map(String);
}
