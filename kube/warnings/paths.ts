import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { withoutLast } from '../trim.ts';
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

/** More than are ever told: of n paths that are one, there are n * n / 2 pairs. */
const mostPairs = 256;
/** Levels above a path at which it is found by what hides it; nobody has deeper ones. */
const mostLevels = 64;

/** Paths so far: where each is in the list, and what is below each. */
class Paths {
  readonly #at = new Map<string, number[]>();
  readonly #below = new Map<string, number[]>();

  add(path: string, index: number): void {
    append(this.#at, path, index);
    for (const above of levelsAbove(path)) append(this.#below, above, index);
  }

  /** Where those are that are `path`, above or below it, in the order in which they came. */
  hiding(path: string): number[] {
    const above = levelsAbove(path).flatMap((level) => this.#at.get(level) ?? []);
    const all = [...(this.#at.get(path) ?? []), ...above, ...(this.#below.get(path) ?? [])];
    return all.sort((a, b) => a - b);
  }
}

function append(to: Map<string, number[]>, key: string, index: number): void {
  const list = to.get(key);
  if (list === undefined) to.set(key, [index]);
  else if (list.length < mostPairs) list.push(index);
}

function levelsAbove(path: string): string[] {
  const levels: string[] = [];
  for (let at = path.indexOf('/'); at >= 0 && levels.length < mostLevels; at = path.indexOf('/', at + 1))
    levels.push(path.slice(0, at));
  return levels;
}

/** `"a/b" with "a"` for each two of which one hides the other. */
function overlaps(list: readonly Mapped[]): string[] {
  const seen = new Paths();
  const found: string[] = [];
  const trimmed = list.map(({ path, source }) => ({ path: withoutLast(path, '/'), source }));
  for (const [index, one] of trimmed.entries()) {
    if (one.path === '') continue;
    for (const other of seen.hiding(one.path))
      found.push(`${shown(one)} with ${shown(trimmed[other] as Mapped)}`);
    if (found.length > mostPairs) break;
    seen.add(one.path, index);
  }
  return found;
}

const certificatePaths: Readonly<Record<string, string>> = {
  certificateChainPath: 'chain',
  keyPath: 'key',
  credentialBundlePath: 'credential bundle',
};

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
  if (isRecord(token)) return [{ path: text(token['path']), source: 'ServiceAccountToken' }];
  const bundle = at(source, 'clusterTrustBundle');
  if (isRecord(bundle)) {
    const name = quoteGo(text(bundle['name'] ?? bundle['signerName']));
    return [{ path: text(bundle['path']), source: `ClusterTrustBundle ${name}` }];
  }
  return Object.entries(certificatePaths).flatMap(([field, what]) => {
    const path = text(at(source, 'podCertificate', field));
    return path === '' ? [] : [{ path, source: `PodCertificate ${what}` }];
  });
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
