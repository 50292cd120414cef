import { parseQuantity } from '../defaults/quantity.ts';
import { scaledQuantity } from '../quantity.ts';
import { quoteGo } from '../quote.ts';
import { record } from '../untyped.ts';

/** Of a resource list at `path`, each of `names` that asks for a part of a byte. */
export function fractionalBytes(list: unknown, names: readonly string[], path: string): string[] {
  const own = record(list);
  return names.flatMap((name) => {
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    const quantity = parseQuantity(value);
    if (!quantity || scaledQuantity(quantity, -3) % 1000n === 0n) return [];
    return [
      `${path}[${name}]: fractional byte value ${quoteGo(String(value))} is invalid, must be an integer`,
    ];
  });
}

/** Of the spec of a PersistentVolumeClaim. */
export function claimSpecWarnings(spec: unknown, path: string): string[] {
  const resources = record(record(spec)['resources']);
  return ['requests', 'limits'].flatMap((kind) =>
    fractionalBytes(resources[kind], ['storage'], `${path}.resources.${kind}`),
  );
}
