import { expect, it } from 'vitest';
import { roomWords } from '../../../cli/commands/start.ts';
import { translate } from '../../../storage/level/errors.ts';
import { Reserve } from '../../../storage/level/reserve.ts';
import type { StoreError } from '../../../storage/store.ts';

it('a store that cannot be opened for want of room is not taken for a new one', () => {
  const full = translate(new Error('IO error: db/000005.log: No space left on device'), '/d');
  expect(roomWords(full)).toBe(
    'the disk of /d is full: make room there, without some a store cannot be opened',
  );
});

it('a new one is told of the reserve, which refuses it', async () => {
  const reserve = new Reserve({ directory: '/d', bytes: 128 << 20, free: async () => 5 });
  await reserve.look(0);
  reserve.stop();
  const refused = (): StoreError => {
    try {
      reserve.check(0);
    } catch (error) {
      return error as StoreError;
    }
    throw new Error('it was not refused');
  };
  expect(roomWords(refused())).toBe(
    'less than 128 MiB are free on the disk of /d: a new store needs more, or a smaller --disk-reserve',
  );
});
