import { expect, it } from 'vitest';
import { firstMeeting, restoredNow } from '../../../server/restored.ts';
import { openMemory } from '../../../storage/memory/memory.ts';

it('a cluster is met once after each restore, under whichever uid it is registered', async () => {
  const store = openMemory();
  expect(await firstMeeting(store, 'a', [])).toBeUndefined();
  const [[key, value] = ['', new Uint8Array()]] = Object.entries(restoredNow());
  const { revision } = await store.create(key, value);
  const met = await firstMeeting(store, 'a', []);
  await met?.();
  await met?.();
  expect(await firstMeeting(store, 'a', [])).toBeUndefined();
  expect(await firstMeeting(store, 'b', [])).toBeDefined();
  // It has joined anew, and takes over what it had: what was deleted meanwhile was known.
  expect(await firstMeeting(store, 'b', ['a'])).toBeUndefined();
  expect(await firstMeeting(store, 'b', ['a', 'before'])).toBeDefined();
  await store.update(key, Object.values(restoredNow())[0] ?? value, revision);
  expect(await firstMeeting(store, 'b', ['a'])).toBeDefined();
  await store.close();
});
