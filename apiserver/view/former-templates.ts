import { podAdmissionAnnotation } from '../../cluster/names.ts';
import { podRefusal } from '../../cluster/pod-admission.ts';
import type { ObjectRef } from '../../cluster/types.ts';
import { sameJson } from '../../kube/deep.ts';
import type { Json, KubeObject } from '../../kube/object.ts';
import { at, getOwn } from '../../kube/untyped.ts';
import { StoreError, type StoreEvent } from '../../storage/store.ts';
import { shownStored } from '../registry/codec.ts';

interface Former {
  object: KubeObject;
  bytes: number;
}

/** So much is remembered of all, and so many of one: a cluster shows of most a moment later. */
const mostBytes = 16 << 20;
const mostOfOne = 10;

/**
 * The templates that workloads had before their present one, of those that were replaced lately: a cluster may tell of what
 * it made of one later than the next was written. Of the longest ago nothing is known any more.
 */
export class FormerTemplates {
  /** By the workload's key, newest first; who changed last comes last. */
  readonly #known = new Map<string, Former[]>();
  #bytes = 0;
  #reached = 0;
  #waiting: { revision: number; resolve: () => void }[] = [];

  /** What happened to a workload. Of what cannot be read nothing is remembered. */
  note(event: StoreEvent): void {
    try {
      this.#note(event);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#forget(event.entry.key);
    }
  }

  #note({ type, entry, previous }: StoreEvent): void {
    if (type === 'delete') this.#forget(entry.key);
    if (type === 'delete' || previous === undefined) return;
    const now = shownStored(entry);
    // Most writes are of the status of what was never changed.
    if ((now.metadata.generation ?? 1) <= 1) return;
    const object = shownStored(previous);
    const { uid, generation } = object.metadata;
    if (generation === now.metadata.generation || uid !== now.metadata.uid) return;
    const template = templateOf(object);
    // Of one that was refused nothing was made.
    const isMade = template !== undefined && podRefusal(object) === undefined;
    if (!isMade || sameJson(template, templateOf(now))) return;
    const { kind, apiVersion } = object;
    const said = getOwn(object.metadata.annotations ?? {}, podAdmissionAnnotation);
    const annotations = said === undefined ? {} : { annotations: { [podAdmissionAnnotation]: said } };
    const former = {
      kind,
      apiVersion,
      metadata: { ...(uid && { uid }), ...annotations },
      spec: { template },
    };
    const others = this.#known.get(entry.key)?.filter((one) => !sameJson(one.object, former));
    const all = [{ object: former, bytes: previous.value.length }, ...(others ?? [])].slice(0, mostOfOne);
    this.#forget(entry.key);
    this.#known.set(entry.key, all);
    this.#bytes += bytesOf(all);
    for (const key of this.#known.keys()) {
      if (this.#bytes <= mostBytes) break;
      this.#forget(key);
    }
  }

  /** What was given to `note` up to this revision is all there is. */
  reached(revision: number): void {
    this.#reached = revision;
    const due = this.#waiting.filter((one) => one.revision <= revision);
    if (due.length > 0) this.#waiting = this.#waiting.filter((one) => one.revision > revision);
    for (const { resolve } of due) resolve();
  }

  /** Those until `revision`, with their uid, their template and what was said of its pods alone, newest first. */
  async of(key: string, revision: number): Promise<readonly KubeObject[]> {
    if (revision > this.#reached)
      await new Promise<void>((resolve) => this.#waiting.push({ revision, resolve }));
    return (this.#known.get(key) ?? []).map(({ object }) => object);
  }

  #forget(key: string): void {
    this.#bytes -= bytesOf(this.#known.get(key) ?? []);
    this.#known.delete(key);
  }
}

const withTemplates = new Set(['deployments', 'statefulsets', 'daemonsets']);

/** Of what a cluster tells of each template. */
export function hasTemplates(ref: ObjectRef | undefined): boolean {
  return ref?.group === 'apps' && withTemplates.has(ref.resource);
}

function templateOf({ spec }: KubeObject): Json | undefined {
  return at(spec, 'template') as Json | undefined;
}

function bytesOf(formers: readonly Former[]): number {
  return formers.reduce((sum, { bytes }) => sum + bytes, 0);
}
