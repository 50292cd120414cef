import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';
import { type Meant, selected } from '../matching/question.ts';
import { meetsConditions } from './condition.ts';
import type { Hook } from './hook.ts';

export interface Asked extends Meant {
  hook: Hook;
}

/** What a webhook is asked about a request; undefined: nothing. */
export async function questionFor(
  hook: Hook,
  request: AdmissionRequest,
  catalog: Catalog,
): Promise<Asked | undefined> {
  const meant = await selected(hook, request, catalog);
  return meant && meetsConditions(hook, meant.question) ? { hook, ...meant } : undefined;
}
