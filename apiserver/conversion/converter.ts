import { randomUUID } from 'node:crypto';
import { formatApiVersion } from '../../kube/gvk.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { StatusError } from '../../kube/status.ts';
import { isTimeout, within } from '../../kube/within.ts';
import type { Observer } from '../observer.ts';
import type { Conversion, ServedResource } from '../served.ts';
import type { Tracer } from '../tracer.ts';
import { WebhookCallError, type WebhookCaller } from '../webhook/call.ts';
import { postedUrl } from '../webhook/reference.ts';
import { Turns } from '../webhook/turns.ts';
import { Forms } from './forms.ts';
import { Kept } from './kept.ts';
import { ConversionError, convertedBy, kindOf, reviewOf } from './review.ts';

/** For whom, and to which version of a definition. */
export interface Asking {
  cluster: string;
  served: ServedResource;
  /** Of whoever waits for it. What it comes to once that has aborted is its reason. */
  signal?: AbortSignal | undefined;
}

/** kube-apiserver's, of each call. */
const timeoutSeconds = 30;
/** Of one logical cluster at a time, in this process. */
const mostAtOnce = 8;

/** How long an answer may be: in proportion to what was sent, whatever a webhook says of small objects. */
const answerFactor = 4;
const answerBytesPerObject = 32 * 1024;
const mostAnswer = 8 * 1024 * 1024;

/** Asks the webhooks that definitions name to convert their objects. */
export class Converter {
  readonly forms = new Forms();
  readonly kept: Kept;
  readonly #turns = new Turns(mostAtOnce);
  readonly #caller: WebhookCaller;
  readonly #tracer: Tracer | undefined;
  readonly #observer: Observer | undefined;

  constructor(
    caller: WebhookCaller,
    {
      tracer,
      observer,
      kept = new Kept(),
    }: { tracer?: Tracer | undefined; observer?: Observer | undefined; kept?: Kept } = {},
  ) {
    this.#caller = caller;
    this.#tracer = tracer;
    this.#observer = observer;
    this.kept = kept;
  }

  /**
   * What `take` makes of the objects of one review, in their order, in a version of their definition; those that are in it are as
   * they were. Not pruned. By a definition that names no webhook any more they are what they were, under another apiVersion. While
   * `take` works the next of its logical cluster waits: so many answers are kept at a time. Fails with a StatusError 500 of no
   * reason, as kube-apiserver does.
   */
  async convert<T>(asking: Asking, all: readonly KubeObject[], take: Take<T>): Promise<T> {
    const { conversion, info } = asking.served;
    const apiVersion = formatApiVersion(info);
    asking.signal?.throwIfAborted();
    if (conversion?.config === undefined) return take(all.map((object) => stamped(object, apiVersion)));
    const due = all.filter((object) => object.apiVersion !== apiVersion);
    for (const object of due) requireVersion(object, conversion, info.group);
    if (due.length === 0) return take(all);
    return this.#ask(asking, { ...conversion, config: conversion.config }, due, (converted) => {
      const made = new Map(due.map((object, index) => [object, converted[index] ?? object]));
      return take(all.map((object) => made.get(object) ?? object));
    });
  }

  one(asking: Asking, object: KubeObject): Promise<KubeObject> {
    return this.convert(asking, [object], async ([made = object]) => made);
  }

  async #ask<T>(
    asking: Asking,
    conversion: ByWebhook,
    objects: readonly KubeObject[],
    take: Take<T>,
  ): Promise<T> {
    const { name, reviewVersions: versions } = conversion;
    const apiVersion = formatApiVersion(asking.served.info);
    const uid = randomUUID();
    const review = reviewOf(objects, { apiVersion, versions, uid });
    if (review === undefined) throw failed('no supported conversion review versions');
    const post = () =>
      this.#post(asking, conversion, { review, objects }, (answer) =>
        take(convertedBy(answer, review, objects)),
      );
    const attributes = {
      'custom-resource-definition': name,
      'desired-api-version': apiVersion,
      'object-count': objects.length,
      UID: uid,
    };
    const began = performance.now();
    const done = (failure?: string) =>
      this.#observer?.converted?.((performance.now() - began) / 1000, failure);
    try {
      const converted = await (this.#tracer?.call('Call conversion webhook', attributes, post) ?? post());
      done();
      return converted;
    } catch (error) {
      done(error instanceof ConversionError ? error.failure : 'conversion_webhook_call_failure');
      asking.signal?.throwIfAborted();
      if (error instanceof ConversionError) throw failed(error.message);
      if (!(error instanceof WebhookCallError)) throw error;
      throw failed(`conversion webhook for ${kindOf(objects[0])} failed: ${error.message}`);
    }
  }

  /** The time that is spent waiting for one's turn counts. */
  #post<T>(
    { cluster, signal: asker }: Asking,
    { config }: ByWebhook,
    { review, objects }: { review: JsonObject; objects: readonly KubeObject[] },
    take: (answer: JsonObject) => Promise<T>,
  ): Promise<T> {
    return within(timeoutSeconds * 1000, asker, async (signal) => {
      const maxAnswer = (sent: number) =>
        Math.min(mostAnswer, sent * answerFactor + objects.length * answerBytesPerObject);
      const call = { cluster, config, timeoutSeconds, review, signal, maxAnswer };
      let isItsTurn = false;
      try {
        return await this.#turns.run(cluster, signal, async () => {
          isItsTurn = true;
          return this.#caller.post(call, take);
        });
      } catch (error) {
        if (isItsTurn || !isTimeout(signal)) throw error;
        const url = JSON.stringify(postedUrl(config, timeoutSeconds));
        throw new WebhookCallError(`Post ${url}: context deadline exceeded`);
      }
    });
  }
}

type ByWebhook = Conversion & Required<Pick<Conversion, 'config'>>;

type Take<T> = (made: readonly KubeObject[]) => Promise<T>;

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
