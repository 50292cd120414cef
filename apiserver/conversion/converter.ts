import { randomUUID } from 'node:crypto';
import { formatApiVersion } from '../../kube/gvk.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { StatusError } from '../../kube/status.ts';
import { isTimeout, within } from '../../kube/within.ts';
import type { Conversion, ServedResource } from '../served.ts';
import type { Tracer } from '../tracer.ts';
import { WebhookCallError, type WebhookCaller } from '../webhook/call.ts';
import { postedUrl } from '../webhook/reference.ts';
import { Forms } from './forms.ts';
import { ConversionError, convertedBy, kindOf, reviewOf } from './review.ts';
import { Turns } from './turns.ts';

/** An object, and about how long its JSON is. */
export interface Convertible {
  object: KubeObject;
  size: number;
}

/** kube-apiserver's, of each call. */
const timeoutSeconds = 30;
/** Of one logical cluster at a time, in this process. */
const mostAtOnce = 8;
/** Of one review. */
const mostObjects = 100;
const mostBytes = 1024 * 1024;

/** Asks the webhooks that definitions name to convert their objects. */
export class Converter {
  readonly forms = new Forms();
  readonly #turns = new Turns(mostAtOnce);
  readonly #caller: WebhookCaller;
  readonly #tracer: Tracer | undefined;

  constructor(caller: WebhookCaller, tracer?: Tracer) {
    this.#caller = caller;
    this.#tracer = tracer;
  }

  /**
   * The objects, in their order, in a version of their definition; those that are in it are as they were. Not pruned. By a
   * definition that names no webhook any more they are what they were, under another apiVersion. Fails with a StatusError 500 of no
   * reason, as kube-apiserver does.
   */
  async convert(cluster: string, served: ServedResource, all: readonly Convertible[]): Promise<KubeObject[]> {
    const { conversion } = served;
    const apiVersion = formatApiVersion(served.info);
    if (conversion === undefined) return all.map(({ object }) => stamped(object, apiVersion));
    const due = all.filter(({ object }) => object.apiVersion !== apiVersion);
    for (const { object } of due) requireVersion(object, conversion, served.info.group);
    const made = new Map<KubeObject, KubeObject>();
    for (const part of partsOf(due)) {
      const objects = part.map(({ object }) => object);
      const converted = await this.#ask(cluster, conversion, objects, apiVersion);
      for (const [index, object] of objects.entries()) made.set(object, converted[index] ?? object);
    }
    return all.map(({ object }) => made.get(object) ?? object);
  }

  async #ask(
    cluster: string,
    { name, config, reviewVersions: versions }: Conversion,
    objects: readonly KubeObject[],
    apiVersion: string,
  ): Promise<KubeObject[]> {
    const uid = randomUUID();
    const review = reviewOf(objects, { apiVersion, versions, uid });
    if (review === undefined) throw failed('no supported conversion review versions');
    const post = () => this.#post(cluster, config, review);
    const attributes = {
      'custom-resource-definition': name,
      'desired-api-version': apiVersion,
      'object-count': objects.length,
      UID: uid,
    };
    try {
      const answer = await (this.#tracer?.call('Call conversion webhook', attributes, post) ?? post());
      return convertedBy(answer, review, objects);
    } catch (error) {
      if (error instanceof ConversionError) throw failed(error.message);
      if (!(error instanceof WebhookCallError)) throw error;
      throw failed(`conversion webhook for ${kindOf(objects[0])} failed: ${error.message}`);
    }
  }

  /** The time that is spent waiting for one's turn counts. */
  #post(cluster: string, config: Conversion['config'], review: JsonObject): Promise<JsonObject> {
    return within(timeoutSeconds * 1000, undefined, async (signal) => {
      const call = { cluster, config, timeoutSeconds, review, signal };
      try {
        return await this.#turns.run(cluster, signal, () => this.#caller.post(call));
      } catch (error) {
        if (error instanceof WebhookCallError || !isTimeout(signal)) throw error;
        const url = JSON.stringify(postedUrl(config, timeoutSeconds));
        throw new WebhookCallError(`Post ${url}: context deadline exceeded`);
      }
    });
  }
}

/** As the strategy None does it. */
export function stamped(object: KubeObject, apiVersion: string): KubeObject {
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

function requireVersion({ apiVersion }: KubeObject, { versions }: Conversion, group: string): void {
  if ([...versions.keys()].some((version) => formatApiVersion({ group, version }) === apiVersion)) return;
  throw failed(`request to convert CR from an invalid group/version: ${apiVersion}`);
}

function failed(message: string): StatusError {
  return new StatusError(500, '', message);
}

function partsOf(all: readonly Convertible[]): Convertible[][] {
  const parts: Convertible[][] = [];
  let part: Convertible[] = [];
  let bytes = 0;
  for (const one of all) {
    if (part.length > 0 && (part.length >= mostObjects || bytes + one.size > mostBytes)) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(one);
    bytes += one.size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
