import { isRecord } from '../untyped.ts';
import type { Path, Step } from './parse.ts';

/** So many values are looked at, or found, for one path: `..` after `..`, and `[*,*]`, find all as often as somebody cares to write. */
const most = 100_000;

/** The first of what is there; undefined: nothing, or the path is about other types than it finds. */
export function firstAt(object: unknown, path: Path): unknown {
  return new Walk().along(path, [object])?.[0];
}

type Found = readonly unknown[];

/** Undefined: it cannot be answered, which is another thing than nothing. */
class Walk {
  #left = most;

  along(path: Path, from: Found): Found | undefined {
    let found: Found | undefined = from;
    for (const step of path) {
      if (!this.#lasts(found.length + 1)) return undefined;
      found = this.#step(step, found);
      if (!found) return undefined;
    }
    return found;
  }

  #lasts(count: number): boolean {
    this.#left -= count;
    return this.#left >= 0;
  }

  #step(step: Step, from: Found): Found | undefined {
    switch (step.is) {
      case 'field':
        return from.flatMap((value) =>
          isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [],
        );
      case 'constant':
        return [step.value];
      case 'all':
        return from.flatMap(childrenOf);
      case 'below':
        return this.#below(from);
      case 'slice':
        return this.#ofArrays(from, (items) => sliceOf(items, step));
      case 'union':
        return this.#each(step.paths, (path) => this.along(path, from));
      case 'filter':
        return this.#ofArrays(from, (items) =>
          this.#each(items, (item) => {
            const passes = this.#passes(item, step);
            return passes === undefined ? undefined : passes ? [item] : [];
          }),
        );
    }
  }

  /** All that has something in it, itself first, however deep. */
  #below(from: Found): Found | undefined {
    const all: unknown[] = [];
    const waiting = from.toReversed();
    while (waiting.length > 0) {
      const value = waiting.pop();
      const children = childrenOf(value);
      if (!this.#lasts(children.length)) return undefined;
      if (children.length > 0) all.push(value);
      for (const child of children.toReversed()) waiting.push(child);
    }
    return all;
  }

  #each<T>(items: readonly T[], of: (item: T) => Found | undefined): unknown[] | undefined {
    const all: unknown[] = [];
    for (const item of items) {
      const found = of(item);
      if (!found || !this.#lasts(found.length)) return undefined;
      for (const one of found) all.push(one);
    }
    return all;
  }

  #ofArrays(from: Found, of: (items: Found) => Found | undefined): Found | undefined {
    return this.#each(from, (value) => {
      if (value === null) return [];
      return Array.isArray(value) ? of(value) : undefined;
    });
  }

  #passes(item: unknown, { left, operator, right }: Step & { is: 'filter' }): boolean | undefined {
    const lefts = this.along(left, [item]);
    if (operator === 'exists') return lefts && lefts.length > 0;
    if (!lefts || lefts.length > 1) return undefined;
    const rights = lefts.length === 0 ? [] : this.along(right, [item]);
    if (!rights || rights.length > 1) return undefined;
    return rights.length === 1 && compared(lefts[0], operator, rights[0]);
  }
}

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

function sliceOf(
  items: Found,
  { start = 0, end, step = 1, single }: Step & { is: 'slice' },
): Found | undefined {
  const { length } = items;
  const from = start < 0 ? start + length : start;
  const derived = start === -1 ? length : from + 1;
  const until = single ? derived : end === undefined ? length : end < 0 ? end + length : end;
  if (from === until) return [];
  if (from < 0 || from >= length || until < from || until > length || step <= 0) return undefined;
  return items.slice(from, until).filter((_, i) => i % step === 0);
}

function compared(left: unknown, operator: string, right: unknown): boolean | undefined {
  const [a, b] = [left, right] as [string, string];
  if (typeof left !== typeof right || typeof left === 'object') return undefined;
  if (operator === '==') return a === b;
  if (operator === '!=') return a !== b;
  if (typeof left === 'boolean') return undefined;
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  if (operator === '>') return a > b;
  return operator === '>=' ? a >= b : undefined;
}
