import type { JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest } from '../status.ts';

export function applyStrategicMergePatch(
  _current: JsonObject,
  _patch: JsonObject,
  _schema: Schema,
): JsonObject {
  throw badRequest('strategic merge patch: not yet');
}
