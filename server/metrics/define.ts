import type { Definition } from './family.ts';

export function counter(name: string, help: string, labels: readonly string[]): Definition {
  return { name, help, type: 'counter', labels };
}

export function gauge(
  name: string,
  help: string,
  labels: readonly string[],
  merge: Definition['merge'] = 'sum',
): Definition {
  return { name, help, type: 'gauge', labels, merge };
}

export function histogram(
  name: string,
  help: string,
  labels: readonly string[],
  bounds: readonly number[],
): Definition {
  return { name, help, type: 'histogram', labels, bounds };
}
