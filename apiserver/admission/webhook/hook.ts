import type { KubeObject } from '../../../kube/object.ts';
import {
  type LabelSelector,
  type LabelSelectorMatcher,
  labelSelectorFromObject,
} from '../../../kube/selector.ts';
import { isRecord } from '../../../kube/untyped.ts';
import { type ClientConfig, clientConfigOf } from '../../webhook/reference.ts';

export interface Rule {
  operations: string[];
  apiGroups: string[];
  apiVersions: string[];
  /** `pods`, `pods/*`, `*`, `*\/scale`. */
  resources: string[];
  scope: string;
}

/** One webhook of a configuration, ready to be asked. */
export interface Hook {
  /** Unique within a logical cluster, for reinvocation. */
  id: string;
  /** Of which it is one. */
  configuration: string;
  name: string;
  config: ClientConfig;
  rules: Rule[];
  equivalent: boolean;
  ignoreFailure: boolean;
  sideEffects: string;
  timeoutSeconds: number;
  reviewVersions: string[];
  reinvoke: boolean;
  namespaceSelector: LabelSelectorMatcher;
  objectSelector: LabelSelectorMatcher;
  matchConditions: { name: string; expression: string }[];
}

/** The webhooks of a Mutating- or ValidatingWebhookConfiguration as it is stored, defaults filled in. */
export function hooksOf(configuration: KubeObject): Hook[] {
  const webhooks = Array.isArray(configuration['webhooks']) ? configuration['webhooks'] : [];
  return webhooks.filter(isRecord).map((raw, index) => hookOf(raw, configuration.metadata.name ?? '', index));
}

function hookOf(raw: Record<string, unknown>, configuration: string, index: number): Hook {
  const selector = (value: unknown) => labelSelectorFromObject((value ?? {}) as LabelSelector);
  return {
    id: `${configuration}/${String(raw['name'])}/${index}`,
    configuration,
    name: String(raw['name'] ?? ''),
    config: clientConfigOf(raw['clientConfig']),
    rules: listOf(raw['rules']).filter(isRecord).map(ruleOf),
    equivalent: raw['matchPolicy'] !== 'Exact',
    ignoreFailure: raw['failurePolicy'] === 'Ignore',
    sideEffects: String(raw['sideEffects'] ?? ''),
    timeoutSeconds: Number(raw['timeoutSeconds'] ?? 10),
    reviewVersions: strings(raw['admissionReviewVersions']),
    reinvoke: raw['reinvocationPolicy'] === 'IfNeeded',
    namespaceSelector: selector(raw['namespaceSelector']),
    objectSelector: selector(raw['objectSelector']),
    matchConditions: listOf(raw['matchConditions']) as { name: string; expression: string }[],
  };
}

function ruleOf(raw: Record<string, unknown>): Rule {
  return {
    operations: strings(raw['operations']),
    apiGroups: strings(raw['apiGroups']),
    apiVersions: strings(raw['apiVersions']),
    resources: strings(raw['resources']),
    scope: String(raw['scope'] ?? '*'),
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function strings(value: unknown): string[] {
  return listOf(value).map(String);
}
