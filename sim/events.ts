import { type About, EventRecorder, type RecorderOptions, type Word } from '../controller/events.ts';
import { parseApiVersion } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';

/** A kubelet's own limits (eventBurst, eventRecordQPS): what comes faster is not told, so a burst of pods costs little. */
const burst = 100;
const perSecond = 50;

/** Who says it, and where in the object what it says is. */
export interface Source {
  component: string;
  host?: string;
  fieldPath?: string;
}

type Recording = Omit<RecorderOptions, 'component' | 'host'>;

/** The Events of a simulated cluster's scheduler, kubelets and controllers. */
export class Events {
  readonly #recording: Recording;
  readonly #recorders = new Map<string, EventRecorder>();
  #tokens = burst;
  #at = Date.now();

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  say(object: KubeObject, words: readonly Word[], { component, host = '', fieldPath }: Source): void {
    const about = { ...aboutOf(object), ...(fieldPath && { fieldPath }) };
    const recorder = this.#recorderOf(component, host);
    for (const word of words) if (this.#take()) recorder.say(about, [word]);
  }

  #recorderOf(component: string, host: string): EventRecorder {
    const key = `${component}/${host}`;
    const known = this.#recorders.get(key);
    if (known) return known;
    const recorder = new EventRecorder({ ...this.#recording, component, host });
    this.#recorders.set(key, recorder);
    return recorder;
  }

  #take(): boolean {
    const now = Date.now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}

function aboutOf({ apiVersion, kind, metadata }: KubeObject): About {
  const { namespace = '', name = '', uid = '' } = metadata;
  return { ...parseApiVersion(apiVersion), kind, namespace, name, uid };
}
