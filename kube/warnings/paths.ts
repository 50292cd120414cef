import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { at, isRecord, records, text } from '../untyped.ts';

interface Mapped {
  path: string;
  /** Empty where the volume has one source only. */
  source: string;
}

function mapped(items: unknown, source = ''): Mapped[] {
  return records(items).map((item) => ({ path: text(item['path']), source }));
}

function shown({ path, source }: Mapped): string {
  return source ? `${quoteGo(path)} (${source})` : quoteGo(path);
}

function overlap(a: Mapped, b: Mapped): boolean {
  return `${a.path}/`.startsWith(`${b.path}/`) || `${b.path}/`.startsWith(`${a.path}/`);
}

/** `"a/b" with "a"` for each two of which one hides the other. */
function overlaps(list: readonly Mapped[]): string[] {
  const seen: Mapped[] = [];
  const found: string[] = [];
  for (const item of list) {
    const one = { ...item, path: item.path.replace(/\/+$/, '') };
    if (one.path) {
      for (const other of seen)
        if (other.path && overlap(other, one)) found.push(`${shown(one)} with ${shown(other)}`);
    }
    seen.push(one);
  }
  return found;
}

function projectedPaths(source: JsonObject): Mapped[] {
  const configMap = at(source, 'configMap');
  const secret = at(source, 'secret');
  if (isRecord(configMap) && configMap['items'] !== undefined)
    return mapped(configMap['items'], `ConfigMap ${quoteGo(text(configMap['name']))}`);
  if (isRecord(secret) && secret['items'] !== undefined)
    return mapped(secret['items'], `Secret ${quoteGo(text(secret['name']))}`);
  const items = at(source, 'downwardAPI', 'items');
  if (items !== undefined) return mapped(items, 'DownwardAPI');
  const token = at(source, 'serviceAccountToken');
  return isRecord(token) ? [{ path: text(token['path']), source: 'ServiceAccountToken' }] : [];
}

/** Files of one volume that hide each other. */
export function volumePathWarnings(volumes: readonly JsonObject[]): string[] {
  return volumes.flatMap((volume) => {
    const name = quoteGo(text(volume['name']));
    const tell = (what: string, list: readonly Mapped[]) =>
      overlaps(list).map((pair) => `volume ${name} (${what}): overlapping paths: ${pair}`);
    const configMap = `ConfigMap ${quoteGo(text(at(volume, 'configMap', 'name')))}`;
    const secret = `Secret ${quoteGo(text(at(volume, 'secret', 'secretName')))}`;
    const sources = records(at(volume, 'projected', 'sources'));
    const empty = sources.filter((source) => Object.keys(source).length === 0);
    return [
      ...tell(configMap, mapped(at(volume, 'configMap', 'items'))),
      ...tell(secret, mapped(at(volume, 'secret', 'items'))),
      ...tell('DownwardAPI', mapped(at(volume, 'downwardAPI', 'items'))),
      ...empty.map(() => `volume ${name} (Projected) has no sources provided`),
      ...tell('Projected', sources.flatMap(projectedPaths)),
    ];
  });
}
