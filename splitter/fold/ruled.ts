import { type KindRule, stepsOf } from '../../cluster/placed-resource.ts';
import { originOf, setAt } from '../../cluster/ruled.ts';
import { deepEqual } from '../../kube/deep.ts';
import { at, getOwn, numberAt, textAt } from '../../kube/untyped.ts';
import { isGoing } from '../traffic.ts';
import { foldConditions } from './conditions.ts';
import { countOf, type Fold, type FoldPart, observedGeneration, type Status } from './part.ts';

const usual = ['replicas', 'readyReplicas', 'availableReplicas', 'updatedReplicas'].map(
  (c) => `.status.${c}`,
);

/**
 * Of a kind that a rule is about: what is counted is added up, of the words that have an order the worst counts, of
 * conditions too, and of all else what every cluster that it stays on says alike. So of one cluster alone its word stands.
 */
export const foldRuled: Fold = (input) => {
  const { root, parts } = input;
  const rule = originOf(root)?.rule ?? {};
  const staying = parts.filter((part) => !isGoing(part.share));
  const speaking = (staying.length > 0 ? staying : parts).filter(({ slice }) => slice?.status !== undefined);
  let status = alike(speaking);
  const conditions = foldConditions(parts);
  if (conditions.length > 0) status['conditions'] = conditions;
  for (const path of sumsOf(rule)) {
    const steps = stepsOf(path).slice(1);
    const isSaid = parts.some((part) => at(part.status, ...steps) !== undefined);
    if (isSaid || at(root.status, ...steps) !== undefined) status = setAt(status, steps, sumAt(parts, steps));
  }
  for (const { path, values } of rule.status?.worst ?? []) {
    const steps = stepsOf(path).slice(1);
    const said = new Set(speaking.map((part) => textAt(part.status, ...steps)));
    const word = values.find((value) => said.has(value));
    if (word !== undefined) status = setAt(status, steps, word);
  }
  return { ...status, ...generationOf(observedGeneration(input), speaking) };
};

function sumsOf({ specReplicasPath, status }: KindRule): readonly string[] {
  return status?.sums ?? (specReplicasPath === undefined ? [] : usual);
}

/** Of a silent cluster nobody knows what is there. */
function sumAt(parts: readonly FoldPart[], steps: readonly string[]): number {
  const heard = parts.filter(({ silence }) => !silence);
  const [field = ''] = steps.slice(-1);
  const above = steps.slice(0, -1);
  return heard.reduce((sum, part) => {
    const status = (at(part.status, ...above) ?? {}) as Status;
    return Math.min(2 ** 31 - 1, sum + countOf({ ...part, status }, field));
  }, 0);
}

function alike(parts: readonly FoldPart[]): Status {
  const [first, ...others] = parts;
  const same = Object.entries(first?.status ?? {}).filter(
    ([field, value]) =>
      field !== 'conditions' &&
      field !== 'observedGeneration' &&
      others.every(({ status }) => deepEqual(getOwn(status, field), value)),
  );
  return Object.fromEntries(same);
}

/** Some say it as text. */
function generationOf({ observedGeneration: said }: Status, parts: readonly FoldPart[]): Status {
  if (said === undefined || parts.every(({ status }) => at(status, 'observedGeneration') === undefined))
    return {};
  const isText = parts.some(({ status }) => numberAt(status, 'observedGeneration') === undefined);
  return { observedGeneration: isText ? String(said) : said };
}
