import { jsonType } from '../../kube/go-words.ts';
import { decodeJsonInTurns } from '../../kube/json.ts';
import type { Json, JsonObject } from '../../kube/object.ts';
import { othersFirst } from '../../kube/others-first.ts';
import { Slots } from '../../kube/slots.ts';
import { isRecord } from '../../kube/untyped.ts';
import { Turns } from './turns.ts';

/** Nobody was asked, or what came back is no answer. The message is kube-apiserver's, without what it was for. */
export class WebhookCallError extends Error {}

/** Longer ones are read one after the other. */
export const shortBytes = 64 << 10;
/** Of all logical clusters in this process. */
const mostAtOnce = 2;

export type Take<T> = (answer: JsonObject) => T | Promise<T>;

/**
 * Reads what webhooks answer. As a value an answer may be more than twenty times as long as its text: of long ones two are
 * read, and made use of, at a time, of different logical clusters, whose turns come one after the other.
 */
export class Reading {
  readonly #turns = new Turns(1);
  readonly #slots = new Slots(mostAtOnce);

  /**
   * What `take` makes of the answer, which nobody holds afterwards. Rejects with the signal's reason where that aborts before the
   * answer is read, with WebhookCallError where it is none of the kind that was asked.
   */
  async read<T>(
    bytes: Uint8Array,
    { review, cluster }: { review: JsonObject; cluster: string },
    signal: AbortSignal,
    take: Take<T>,
  ): Promise<T> {
    if (bytes.length <= shortBytes) return take(reviewIn(await jsonIn(bytes, cluster, signal), review));
    return this.#turns.run(cluster, signal, async () => {
      const release = await this.#slots.take(signal);
      try {
        return await take(reviewIn(await jsonIn(bytes, cluster, signal), review));
      } finally {
        release();
      }
    });
  }
}

/** Undefined: it is no JSON. */
async function jsonIn(bytes: Uint8Array, cluster: string, signal: AbortSignal): Promise<Json | undefined> {
  try {
    return await decodeJsonInTurns(bytes, async () => {
      await othersFirst(cluster);
      signal.throwIfAborted();
    });
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

const unread = "couldn't get version/kind; json parse error: ";

function reviewIn(value: Json = '', asked: JsonObject): JsonObject {
  if (!isRecord(value)) {
    const type = Array.isArray(value) ? 'array' : typeof value;
    const into =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    const why = `json: cannot unmarshal ${type} into Go value of type ${into}`;
    throw new WebhookCallError(unread + why);
  }
  for (const field of ['apiVersion', 'kind']) {
    const given = value[field] ?? '';
    if (typeof given === 'string') continue;
    const into = `Go struct field .${field} of type string`;
    throw new WebhookCallError(`${unread}json: cannot unmarshal ${jsonType(given)} into ${into}`);
  }
  const apiVersion = value['apiVersion'] || asked['apiVersion'];
  const kind = value['kind'] || asked['kind'];
  if (kind !== asked['kind'] || !knownVersions.has(String(apiVersion))) {
    throw new WebhookCallError(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  // What it does not say of itself it is taken for, and told from what it says by whoever asked.
  return {
    ...(value as JsonObject),
    apiVersion: String(value['apiVersion'] ?? ''),
    kind: String(value['kind'] ?? ''),
  };
}

const knownVersions = new Set([
  'admission.k8s.io/v1',
  'admission.k8s.io/v1beta1',
  'apiextensions.k8s.io/v1',
  'apiextensions.k8s.io/v1beta1',
]);
