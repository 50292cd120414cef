import { listAt, mapAt, textAt } from '../kube/untyped.ts';

/** As a field selector names it, beside the labels of a node. */
export const nodeNameKey = 'metadata.name';
/** Instead of a value, where a key has more of them than are told; by itself, in the end: there are more keys. */
export const moreLabels = '*';
/** Before a key that some of the nodes have not: all have what is told without. */
export const lacking = '!';

/** One thing that pods ask of the node they run on. */
interface Ask {
  key: string;
  operator: string;
  values: readonly string[];
  /** The labels any of which may be one for it: with the values, and where values are not told. Made once, since each cluster is asked for them. */
  labels: readonly string[];
  untold: readonly string[];
  lacked: string;
}

/** What each of the pods asks of its node: all of one of these. Undefined: nothing that the labels of nodes could tell. */
export type NodeAsk = readonly (readonly Ask[])[];

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/**
 * `isPod`: a Pod of its own, whose spec.nodeName is by and by that of whichever node it has.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
 */
export function nodeAskOf(spec: unknown, isPod: boolean): NodeAsk | undefined {
  const name = isPod ? undefined : textAt(spec, 'nodeName');
  const selected = Object.entries(mapAt(spec, 'nodeSelector') ?? {}).map(([key, value]) => isIn(key, value));
  const everywhere = name ? [isIn(nodeNameKey, name), ...selected] : selected;
  const terms = listAt(spec, 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms');
  const asks = (terms.length > 0 ? terms : [{}]).map((term) => [
    ...everywhere,
    ...[...listAt(term, 'matchFields'), ...listAt(term, 'matchExpressions')].map(askOf),
  ]);
  return asks.some((one) => one.length === 0) ? undefined : asks;
}

function isIn(key: string, value: string): Ask {
  return ask(key, 'In', [value]);
}

function ask(key: string, operator: string, values: readonly string[]): Ask {
  const labels = values.map((value) => `${key}=${value}`);
  return {
    key,
    operator,
    values,
    labels,
    untold: [moreLabels, `${key}=${moreLabels}`],
    lacked: lacking + key,
  };
}

function askOf(from: unknown): Ask {
  const values = listAt(from, 'values').filter((value) => typeof value === 'string');
  return ask(textAt(from, 'key') ?? '', textAt(from, 'operator') ?? '', values);
}

/** PhysicalClusterStatus.nodeLabels as nodeMisfit looks them up: each label, and each key by itself. */
export type LabelIndex = ReadonlySet<string>;

export function labelIndex(told: readonly string[]): LabelIndex {
  const index = new Set(told);
  for (const label of told) if (label.includes('=')) index.add(label.slice(0, label.indexOf('=')));
  return index;
}

/**
 * Why none of a cluster's nodes is one for them, as far as their labels one by one can tell: no two of them need be of one node.
 * Undefined: one may be.
 */
export function nodeMisfit(ask: NodeAsk, labels: LabelIndex | undefined): string | undefined {
  if (labels === undefined) return undefined;
  const lacks = ask.map((all) => all.find((one) => !mayHold(one, labels)));
  const [first] = lacks;
  if (!first || lacks.includes(undefined)) return undefined;
  return `no node there ${wordsOf(first)}, as its pods ask`;
}

function mayHold({ key, operator, values, labels: these, untold, lacked }: Ask, labels: LabelIndex): boolean {
  const isThere = (label: string) => labels.has(label);
  if (untold.some(isThere)) return true;
  const isLacked = labels.has(lacked) || (!labels.has(key) && labels.has(nodeNameKey));
  const isAny = (is: (value: string) => boolean) =>
    labels.has(key) &&
    [...labels].some((label) => label.startsWith(`${key}=`) && is(label.slice(key.length + 1)));
  switch (operator) {
    case 'In':
      return these.some(isThere);
    case 'Exists':
      return labels.has(key);
    case 'Gt':
      return isAny((value) => Number(value) > Number(values[0]));
    case 'Lt':
      return isAny((value) => Number(value) < Number(values[0]));
    case 'NotIn':
      return isLacked || isAny((value) => !values.includes(value));
    case 'DoesNotExist':
      return isLacked;
    default:
      return true;
  }
}

/** They are said of each cluster, and an affinity may name hundreds of nodes. */
const mostNamed = 3;

function wordsOf({ key, operator, values }: Ask): string {
  const isName = key === nodeNameKey;
  const what = isName ? 'the name' : `the label ${key}`;
  const others = values.length - mostNamed;
  const among = [...values.slice(0, mostNamed), ...(others > 0 ? [`${others} more`] : [])].join(' or ');
  switch (operator) {
    case 'In':
      return `has ${what}${isName ? ' ' : '='}${among}`;
    case 'NotIn':
      return `lacks ${what}${isName ? ' ' : '='}${among}`;
    case 'Exists':
      return `has ${what}`;
    case 'DoesNotExist':
      return `lacks ${what}`;
    default:
      return `has ${what} ${operator === 'Gt' ? 'above' : 'below'} ${values[0]}`;
  }
}

const though = ', though ';
const misfit = /, though (no node there (?:has|lacks) .*, as its pods ask)$/;

/** Why a cluster was chosen, with what nodeMisfit says of it all the same, now; what was said of that before is not. */
export function withMisfit(reason: string, words: string | undefined): string {
  const why = reason.replace(misfit, '');
  return words === undefined ? why : `${why}${though}${words}`;
}

/** What nodeMisfit says of a cluster that was chosen all the same, of the reason that a Placement has for it. */
export function misfitIn(reason: string | undefined): string | undefined {
  return misfit.exec(reason ?? '')?.[1];
}
