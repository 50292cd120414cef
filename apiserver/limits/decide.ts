import { type Bounds, type Counted, counted } from '../../cluster/limits.ts';
import type { Bounded } from './tree.ts';

/** How much there is, or is to be more. */
export type Amounts = Record<Counted, number>;

export function nothing(): Amounts {
  return { objects: 0, bytes: 0, customResourceDefinitions: 0, webhooks: 0 };
}

export function add(to: Amounts, more: Readonly<Amounts>, sign: 1 | -1 = 1): void {
  for (const name of counted) to[name] += sign * more[name];
}

export function isNothing(amounts: Readonly<Amounts>): boolean {
  return counted.every((name) => amounts[name] === 0);
}

/** Which limits what is asked for would pass. What asks for nothing of a limit may pass it: others did. */
export function passed(bounds: Bounds, used: Readonly<Amounts>, more: Readonly<Amounts>): Counted[] {
  return counted.filter((name) => more[name] > 0 && used[name] + more[name] > (bounds[name] ?? Infinity));
}

/** In the words of a ResourceQuota that refuses. */
export function refusalOf(
  { path, bounds }: Bounded,
  names: readonly Counted[],
  used: Readonly<Amounts>,
  more: Readonly<Amounts>,
): string {
  const list = (amount: (name: Counted) => number) =>
    names.map((name) => `${name}=${amount(name)}`).join(',');
  const asked = `requested: ${list((name) => more[name])}`;
  const there = `used: ${list((name) => used[name])}`;
  const limited = `limited: ${list((name) => bounds[name] ?? 0)}`;
  return `exceeded limits of logical cluster ${path}, ${asked}, ${there}, ${limited}`;
}
