import { RunError } from './budget.ts';
import type { Run } from './run.ts';
import { noOverload, Opaque, type Value } from './values.ts';

const written =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** https://semver.org */
export class Semver extends Opaque {
  readonly type = 'kubernetes.Semver';
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];

  constructor(numbers: readonly bigint[], pre: readonly string[]) {
    super();
    this.numbers = numbers;
    this.pre = pre;
  }

  get key(): string {
    return `${this.numbers.join('.')}-${this.pre.join('.')}`;
  }

  compare(other: Semver): number {
    for (const [i, number] of this.numbers.entries()) {
      const against = other.numbers[i] ?? 0n;
      if (number !== against) return number < against ? -1 : 1;
    }
    if (this.pre.length === 0 || other.pre.length === 0) return other.pre.length - this.pre.length;
    for (const [i, part] of this.pre.entries()) {
      const against = other.pre[i];
      if (against === undefined) return 1;
      const by = comparePart(part, against);
      if (by !== 0) return by;
    }
    return this.pre.length - other.pre.length;
  }
}

function comparePart(a: string, b: string): number {
  if (a === b) return 0;
  const [x, y] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (x && y) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (x !== y) return x ? -1 : 1;
  return a < b ? -1 : 1;
}

const longest = 1000;

/** What is `loose` may begin with a v, lack parts, and have zeros before its numbers. */
function read(text: Value, loose: Value): Semver | undefined {
  if (typeof text !== 'string' || (loose !== undefined && typeof loose !== 'boolean')) throw noOverload();
  if (text.length > longest) return undefined;
  const found = written.exec(loose ? strict(text) : text);
  if (!found) return undefined;
  const [, major = '', minor = '', patch = '', pre] = found;
  return new Semver([major, minor, patch].map(BigInt), pre === undefined ? [] : pre.split('.'));
}

function strict(text: string): string {
  const [, core = '', rest = ''] = /^v?([0-9.]*)(.*)$/.exec(text.trim()) ?? [];
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3 && rest === '') parts.push('0');
  return parts.join('.') + rest;
}

function part(index: number): Run {
  return (_, of) => {
    if (of instanceof Semver) return of.numbers[index];
    throw noOverload();
  };
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-semver-library; compared in quantity.ts. */
export const semvers: Readonly<Record<string, Run>> = {
  semver: (budget, text, loose) => {
    if (typeof text === 'string') budget.text(text);
    const version = read(text, loose);
    if (!version) throw new RunError(`error parsing semver: ${text}`);
    return version;
  },
  isSemver: (budget, text, loose) => {
    if (typeof text === 'string') budget.text(text);
    return read(text, loose) !== undefined;
  },
  major: part(0),
  minor: part(1),
  patch: part(2),
};
