import { deepEqual } from '../../kube/deep.ts';
import { formatQuantity, parseQuantity, QuantityError, scaledQuantity } from '../../kube/quantity.ts';
import { at, isRecord, listAt, numberAt } from '../../kube/untyped.ts';
import { foldConditions } from './conditions.ts';
import {
  countOf,
  type Fold,
  type FoldPart,
  latest,
  listLimit,
  observedGeneration,
  type Status,
  sum,
} from './part.ts';

const mostPercent = 2 ** 31 - 1;

/** A cluster's controller looks every quarter of a minute; of one that has not yet its autoscaler says nothing, which is not none. */
export const foldAutoscaler: Fold = (input) => {
  const parts = input.parts.filter(hasLooked);
  if (parts.length === 0) return undefined;
  return {
    ...observedGeneration(input),
    ...latest(parts, 'lastScaleTime'),
    currentReplicas: sum(parts, 'currentReplicas'),
    desiredReplicas: sum(parts, 'desiredReplicas'),
    ...measured(parts),
    conditions: foldConditions(parts),
  };
};

function hasLooked(part: FoldPart): boolean {
  return listAt(part.status, 'conditions').length > 0 || countOf(part, 'currentReplicas') > 0;
}

/** In the order of spec.metrics, which clients go by: so none is told where one cannot be. */
function measured(parts: readonly FoldPart[]): Status {
  const speaking = parts.filter(({ status }) => listAt(status, 'currentMetrics').length > 0);
  const lists = speaking.map(({ status }) => listAt(status, 'currentMetrics').slice(0, listLimit));
  const weights = speaking.map((part) => countOf(part, 'currentReplicas'));
  const [first, ...others] = lists;
  if (!first || others.some(({ length }) => length !== first.length)) return {};
  if (others.length === 0) return { currentMetrics: first };
  const all = first.map((_, i) =>
    ofAll(
      lists.map((list) => list[i]),
      weights,
    ),
  );
  return all.includes(undefined) ? {} : { currentMetrics: all };
}

/** One metric, as each cluster says it. Undefined: they do not speak of the same. */
function ofAll(said: readonly unknown[], weights: readonly number[]): Status | undefined {
  const [first] = said;
  if (!isRecord(first) || !said.every((one) => at(one, 'type') === at(first, 'type'))) return undefined;
  const [field] = Object.keys(first).filter((key) => key !== 'type');
  // Where it could not be read there is nothing of it.
  if (field === undefined) return said.every((one) => deepEqual(one, first)) ? first : undefined;
  const identity = (one: unknown) => ({ ...(at(one, field) as object), current: undefined });
  if (!said.every((one) => isRecord(at(one, field)) && deepEqual(identity(one), identity(first))))
    return undefined;
  const current = currentOf(
    said.map((one) => at(one, field, 'current')),
    weights,
  );
  return current && { ...first, [field]: { ...(first[field] as object), current } };
}

/** What is of each pod is so on average, by how many each cluster has; of a whole each must say the same. */
function currentOf(said: readonly unknown[], weights: readonly number[]): Status | undefined {
  const total = weights.reduce((a, b) => a + b, 0);
  const fields = Object.keys((said[0] ?? {}) as object);
  if (total === 0 || said.some((one) => !deepEqual(Object.keys((one ?? {}) as object), fields)))
    return undefined;
  const entries = fields.map((field): [string, unknown] => {
    const values = said.map((one) => at(one, field));
    if (field === 'averageUtilization') {
      const percents = said.map((one) => Math.max(0, Math.min(mostPercent, numberAt(one, field) ?? 0)));
      return [
        field,
        Math.trunc(percents.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0) / total),
      ];
    }
    if (field === 'averageValue') return [field, averageOf(values, weights)];
    return [field, values.every((value) => deepEqual(value, values[0])) ? values[0] : undefined];
  });
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries);
}

function averageOf(values: readonly unknown[], weights: readonly number[]): string | undefined {
  if (!values.every((value) => typeof value === 'string')) return undefined;
  try {
    const read = values.map((value) => parseQuantity(value));
    const total = read.reduce((sum, one, i) => sum + scaledQuantity(one, -3) * BigInt(weights[i] ?? 0), 0n);
    const value = total / BigInt(weights.reduce((a, b) => a + b, 0));
    return formatQuantity({ value, scale: -3, format: read[0]?.format ?? 'DecimalSI' });
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}
