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
  const apiVersion = storedIn(value);
  if (apiVersion === formatApiVersion(info)) return served;
  return [...conversion.versions.values()].find((one) => formatApiVersion(one.info) === apiVersion);
}

/** The apiVersion under which an object is stored, where it can be told without reading all of it. */
export function storedIn(value: Uint8Array): string | undefined {
  const { buffer, byteOffset, length } = value;
  const text = Buffer.from(buffer, byteOffset, Math.min(length, headBytes)).toString('latin1');
  return head.exec(text)?.[1];
}
