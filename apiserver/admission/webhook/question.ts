import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';
import type { Access } from '../matching/access.ts';
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
  access: Access,
): Promise<Asked | undefined> {
  const meant = await selected(hook, request, catalog);
  if (!meant || !(await meetsConditions(hook, meant.question, access))) return undefined;
  return { hook, ...meant };
}
