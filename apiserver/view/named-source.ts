import { reflectedFromAnnotation } from '../../cluster/names.ts';
import { parseClusters } from '../../cluster/placement.ts';
import type { Entry } from '../../storage/store.ts';

const mark = Buffer.from(`"${reflectedFromAnnotation}":"`);

/**
 * Whether an object may be reflected from the cluster, by its bytes, which are compact: each cluster looks through what all have, at its
 * start and every few minutes, and reads its own alone.
 */
export function namesSource({ value }: Pick<Entry, 'value'>, cluster: string): boolean {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at)) {
    at += mark.length;
    const end = bytes.indexOf('"', at);
    const text = bytes.toString('utf8', at, end < 0 ? bytes.length : end);
    // No cluster's name has what JSON would escape.
    if (parseClusters(text).includes(cluster)) return true;
  }
  return false;
}
