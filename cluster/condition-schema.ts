import type { Schema } from '../kube/schema/schema.ts';
import { int64, list, object, text } from './schema.ts';
import { texts } from './texts.ts';

const condition = object(
  {
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: text,
    observedGeneration: int64,
  },
  texts.condition,
  ['type', 'status'],
);
export const conditions: Schema = list(condition, ['type']);
