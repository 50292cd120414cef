import {
  type LabelSelector,
  type LabelSelectorMatcher,
  labelSelectorFromObject,
} from '../../../kube/selector.ts';
import { isRecord } from '../../../kube/untyped.ts';

export interface Rule {
  operations: string[];
  apiGroups: string[];
  apiVersions: string[];
  /** `pods`, `pods/*`, `*`, `*\/scale`. */
  resources: string[];
  scope: string;
  /** Of policies' rules alone; empty: any. */
  names: string[];
}

/** What says which requests are meant. */
export interface Selecting {
  rules: Rule[];
  equivalent: boolean;
  namespaceSelector: LabelSelectorMatcher;
  objectSelector: LabelSelectorMatcher;
}

/** Of a webhook, or of a policy's or binding's resources. */
export function selectingOf(raw: Record<string, unknown>, rules: string): Selecting {
  const selector = (value: unknown) => labelSelectorFromObject((value ?? {}) as LabelSelector);
  return {
    rules: listOf(raw[rules]).filter(isRecord).map(ruleOf),
    equivalent: raw['matchPolicy'] !== 'Exact',
    namespaceSelector: selector(raw['namespaceSelector']),
    objectSelector: selector(raw['objectSelector']),
  };
}

function ruleOf(raw: Record<string, unknown>): Rule {
  return {
    operations: strings(raw['operations']),
    apiGroups: strings(raw['apiGroups']),
    apiVersions: strings(raw['apiVersions']),
    resources: strings(raw['resources']),
    scope: String(raw['scope'] ?? '*'),
    names: strings(raw['resourceNames']),
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function strings(value: unknown): string[] {
  return listOf(value).map(String);
}
