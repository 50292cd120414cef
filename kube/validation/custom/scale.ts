import { goType } from '../../go-words.ts';
import type { KubeObject } from '../../object.ts';
import { goText } from '../../patch/strategic-errors.ts';
import { quoteGo } from '../../quote.ts';
import type { StatusCause } from '../../status.ts';
import { getOwn, isRecord } from '../../untyped.ts';
import { goNumber } from '../formats.ts';
import { isWhole } from './scalar.ts';

/** Where a definition says that what autoscaling/v1 Scale shows is: `.spec.replicas` and so on. */
export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

const most = 2 ** 31 - 1;

/** The causes for which a custom resource has no Scale, though its definition says that it has; of its status alone, or of all. */
export function scaleCauses(object: KubeObject, paths: ScalePaths, statusAlone: boolean): StatusCause[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = paths;
  const counts = statusAlone ? [statusReplicasPath] : [specReplicasPath, statusReplicasPath];
  const selectors = labelSelectorPath === undefined ? [] : [labelSelectorPath];
  return [
    ...counts.flatMap((path) => countCauses(object, path)),
    ...selectors.flatMap((path) => selectorCauses(object, path)),
  ];
}

function countCauses(object: KubeObject, path: string): StatusCause[] {
  const { value, error } = valueAt(object, path);
  if (error !== undefined) return [invalid(path, '0', error)];
  if (value === undefined) return [];
  if (!isWhole(value)) return [invalid(path, '0', unlike(path, value, 'int64'))];
  if (value < 0) return [invalid(path, String(value), 'should be a non-negative integer')];
  if (value > most) return [invalid(path, String(value), `should be less than or equal to ${most}`)];
  return [];
}

/**
 * Numbers that are whole and written as if they were not, as `5.0` or `1e3`: to kube-apiserver such a one is a count only
 * once it is stored. `literals`: as decodeJson has them.
 */
export function floatCauses(paths: readonly string[], literals: ReadonlyMap<string, string>): StatusCause[] {
  return paths.flatMap((path) => {
    const name = path.replace(/^\./, '');
    const literal = literals.get(name);
    const value = Number(literal);
    if (literal === undefined || !/[.eE]/.test(literal) || !Number.isInteger(value)) return [];
    const why = `accessor error: ${goNumber(value)} is of the type float64, expected int64`;
    return [invalid(path, '0', `.${name} ${why}`)];
  });
}

function selectorCauses(object: KubeObject, path: string): StatusCause[] {
  const { value, error } = valueAt(object, path);
  if (error !== undefined) return [invalid(path, quoteGo(''), error)];
  if (value === undefined || typeof value === 'string') return [];
  return [invalid(path, quoteGo(''), unlike(path, value, 'string'))];
}

function invalid(field: string, value: string, why: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${value}: ${why}`, field };
}

/** Undefined where there is none. */
function valueAt(object: KubeObject, path: string): { value?: unknown; error?: string } {
  const names = path.replace(/^\./, '').split('.');
  let at: unknown = object;
  for (const [i, name] of names.entries()) {
    if (at === null || at === undefined) return {};
    const here = `.${names.slice(0, i + 1).join('.')}`;
    if (!isRecord(at)) return { error: unlike(here, at, 'map[string]interface{}') };
    at = getOwn(at, name);
  }
  return { value: at };
}

function unlike(path: string, value: unknown, wanted: string): string {
  const isFloat = typeof value === 'number' && !isWhole(value);
  const [text, type] = isFloat ? [goNumber(value), 'float64'] : [goText(value as never), goType(value)];
  const of = path.startsWith('.') ? path : `.${path}`;
  return `${of} accessor error: ${text} is of the type ${type}, expected ${wanted}`;
}
