import { expect, test } from 'vitest';
import { Restarts } from '../../../../server/control/restarts.ts';

test.each([
  { ran: [500, 500, 500], waits: [1000, 2000, 4000], of: 'one that cannot begin' },
  {
    ran: [0, 0, 0, 0, 0, 0, 0],
    waits: [1000, 2000, 4000, 8000, 16000, 30000, 30000],
    of: 'one that never can',
  },
  { ran: [60_000, 60_000, 60_000], waits: [1000, 1000, 1000], of: 'one that is killed now and then' },
  { ran: [0, 0, 60_000, 0], waits: [1000, 2000, 1000, 2000], of: 'one that could again' },
])('after $of', ({ ran, waits }) => {
  const restarts = new Restarts();
  expect(ran.map((ms) => restarts.after(ms))).toEqual(waits);
});
