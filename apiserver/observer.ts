import type { ApiRequest } from '../kube/http.ts';
import type { FairnessObserver } from './fairness/observer.ts';
import type { RequestInfo } from './request.ts';

/** What became of a request. */
export interface Outcome {
  code: number;
  /** Of the answer, where that is known before it is sent. */
  bytes: number | undefined;
  /** Until the answer was ready to be sent; of what lasts until it ended. */
  seconds: number;
}

export type Side = 'read' | 'write';

/**
 * Told what requests come to, on the way of each: it counts, and neither waits nor throws. `info` is undefined where a
 * request was refused before it was known what it asks for.
 */
export interface Observer {
  answered(request: ApiRequest, info: RequestInfo | undefined, outcome: Outcome): void;
  /** What lasts was granted; the answer is to be called when it has ended. */
  lasts(request: ApiRequest, info: RequestInfo): () => void;
  /** It was refused or given up, so that others are served. */
  terminated(request: ApiRequest, info: RequestInfo, code: number): void;
  /** So many are at work now. */
  atWork(side: Side, count: number): void;
  /** Where the events are counted that a watch of this is given. */
  watching(info: RequestInfo): { count: number };
  /** A watch ended because its reader left too much waiting. */
  cut(): void;
  /** One of the checks behind an endpoint of health, such as `livez`, was made. */
  checked?(name: string, endpoint: string, good: boolean): void;
  /** A conversion webhook was asked; `failure`, in kube-apiserver's words, is undefined where it did what it was asked for. */
  converted?(seconds: number, failure: string | undefined): void;
  /** What becomes of requests that want seats. */
  readonly fairness?: FairnessObserver;
}

/** The text of /metrics, or of /metrics/slis, where the server has one. */
export type MetricsPage = (
  accept: string | undefined,
  only?: 'slis',
) => Promise<{ contentType: string; text: string }>;
