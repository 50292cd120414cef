import { expect, it } from 'vitest';
import { randomUid } from '../../../kube/uuid.ts';

it('makes version 4 UUIDs, no two alike, over many fillings of its pool', () => {
  const made = Array.from({ length: 2000 }, () => randomUid());
  for (const uid of made) {
    expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  expect(new Set(made).size).toBe(2000);
});
