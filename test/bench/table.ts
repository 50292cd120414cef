import type { Figures } from './measure.ts';

/** Above 1 Atoll is better. */
export function row(name: string, [ours, theirs]: readonly [number, number], better: 'more' | 'less'): void {
  const ratio = better === 'more' ? ours / theirs : theirs / ours;
  print([name, show(ours), show(theirs), `${ratio.toFixed(2)}x`]);
}

export function figures(name: string, [ours, theirs]: readonly [Figures, Figures]): void {
  row(`${name}: per second`, [ours.perSecond, theirs.perSecond], 'more');
  row(`${name}: p99 ms`, [ours.p99, theirs.p99], 'less');
}

export function print(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

function show(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
