import { formatApiVersion } from '../../../kube/gvk.ts';
import type { ServedResource } from '../../served.ts';

/** Only of kind and apiVersion, which come first (codec.ts). */
const head = /^\{"kind":"[^"\\]*","apiVersion":"([^"\\]*)"/;
const headBytes = 512;

/**
 * The version in which an object is stored, where a webhook converts between those of its definition; undefined where that is none
 * of them. Of all other kinds: `served`.
 */
export function servedAs(served: ServedResource, value: Uint8Array): ServedResource | undefined {
  const { conversion, info } = served;
  if (conversion === undefined) return served;
  const text = Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, headBytes)).toString(
    'latin1',
  );
  const apiVersion = head.exec(text)?.[1];
  if (apiVersion === formatApiVersion(info)) return served;
  return [...conversion.versions.values()].find((one) => formatApiVersion(one.info) === apiVersion);
}
