import type { ApiRequest } from '../kube/http.ts';
import type { View } from './options.ts';
import { parseBare, parseRequest, pathOf, type RequestInfo } from './request.ts';

export interface Asked {
  /** Of what cannot be read as more: a path. */
  info: RequestInfo;
  view: View | undefined;
  /** Why it cannot be read: to be told to those who are known. */
  wrong: unknown;
}

/** What a request asks for. Never throws. */
export function askedBy(
  { method, url }: ApiRequest,
  options: { views: readonly View[]; logicalClusters: boolean },
): Asked {
  const view = viewOf(options.views, url);
  if (view !== undefined) return { info: parseBare(method, url), view, wrong: undefined };
  try {
    return { info: parseRequest(method, url, options), view, wrong: undefined };
  } catch (wrong) {
    return { info: parseBare(method, url), view, wrong };
  }
}

function viewOf(views: readonly View[], url: string): View | undefined {
  if (views.length === 0) return undefined;
  const path = pathOf(url);
  return views.find((view) => view.owns(path));
}
