import type { OtherVersion } from '../../kube/discovery/others.ts';
import { otherResources } from '../../kube/discovery/others.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { decodeJson } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/object.ts';
import { Pieces } from '../../kube/pieces.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { AggregatedService } from './api-service.ts';

/** Of what one server says of one version. */
const mostBytes = 512 << 10;
/** Of all, in this process. */
const mostKept = 32 << 20;
/** As long as what was said counts as it is. */
const freshMs = 30_000;
/** Whoever asks what there is waits no longer for it. */
const waitMs = 2_000;

interface Known {
  /** By what the APIService says; one that changes is asked anew. */
  by: string;
  at: number;
  bytes: number;
  resources: readonly JsonObject[] | undefined;
  asking: Promise<void> | undefined;
}

type Ask = (cluster: string, service: AggregatedService) => Promise<ApiResponse>;

/** What other API servers serve, as they said it last: asked when somebody wants to know, seldom, and by nobody else's time. */
export class OtherResources {
  readonly #ask: Ask;
  readonly #known = new Map<string, Known>();
  #bytes = 0;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** With its resources: those that it had last where it does not answer now. */
  async of(cluster: string, service: AggregatedService, version: OtherVersion): Promise<OtherVersion> {
    const key = `${cluster}/${service.name}`;
    const by = JSON.stringify(service.service);
    let known = this.#known.get(key);
    if (known?.by !== by) {
      this.#forget(key);
      known = { by, at: Number.NEGATIVE_INFINITY, bytes: 0, resources: undefined, asking: undefined };
      this.#known.set(key, known);
    }
    if (service.available && performance.now() - known.at > freshMs)
      await this.#renewed(key, cluster, service, known);
    const isFresh = service.available && performance.now() - known.at <= freshMs;
    return { ...version, stale: !isFresh, resources: known.resources ?? [] };
  }

  async #renewed(key: string, cluster: string, service: AggregatedService, known: Known): Promise<void> {
    known.asking ??= this.#read(key, cluster, service, known)
      .catch(() => undefined)
      .finally(() => {
        known.asking = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([known.asking, late]);
    clearTimeout(timer);
  }

  async #read(key: string, cluster: string, service: AggregatedService, known: Known): Promise<void> {
    const { status, body } = await this.#ask(cluster, service);
    const pieces = new Pieces();
    for await (const piece of body instanceof Uint8Array ? [body] : body) {
      pieces.add(piece);
      if (pieces.length > mostBytes) return;
    }
    const list = status === 200 ? decodeJson(pieces.whole()).value : undefined;
    if (!isRecord(list) || this.#known.get(key) !== known) return;
    this.#bytes += pieces.length - known.bytes;
    Object.assign(known, {
      at: performance.now(),
      bytes: pieces.length,
      resources: otherResources(list, service),
    });
    for (const other of this.#known.keys()) {
      if (this.#bytes <= mostKept) break;
      if (other !== key) this.#forget(other);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#known.get(key)?.bytes ?? 0;
    this.#known.delete(key);
  }
}
