import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Keys } from '../../../../storage/etcd/keys.ts';
import { Slots } from '../../../../storage/etcd/slots.ts';
import { write } from '../../../../storage/etcd/write.ts';
import { type Entry, StoreError } from '../../../../storage/store.ts';
import { FakeEtcd, type Fate } from './fake-etcd.ts';

const keys = new Keys();

function client(etcd: FakeEtcd) {
  const parts = { connection: etcd, keys, slots: new Slots() };
  return {
    create: (key: string, value: string) =>
      write(parts, { key, value: Buffer.from(value), expected: 0, previous: undefined }),
    update: (key: string, value: string, expected: number, previous?: Entry) =>
      write(parts, { key, value: Buffer.from(value), expected, previous }),
    delete: (key: string, expected: number) => write(parts, { key, expected, previous: undefined }),
  };
}

const codeOf = (error: unknown): string => (error instanceof StoreError ? error.code : String(error));

describe('write', () => {
  it('answers what was written and what it replaced, or why it was not', async () => {
    const etcd = new FakeEtcd();
    const { create, update, delete: remove } = client(etcd);
    const made = await create('/a', '1');
    expect(made).toMatchObject({ key: '/a', revision: 2, created: 2 });
    expect(await update('/a', '2', 2, made)).toMatchObject({ revision: 3, created: 2 });
    expect(await update('/a', '3', 3)).toMatchObject({ revision: 4, created: 2 });
    await expect(create('/a', 'x')).rejects.toMatchObject({ code: 'exists', current: { revision: 4 } });
    await expect(update('/a', 'x', 3)).rejects.toMatchObject({ code: 'conflict', current: { revision: 4 } });
    await expect(update('/b', 'x', 3)).rejects.toMatchObject({ code: 'missing' });
    const gone = await remove('/a', 4);
    expect({ ...gone, value: gone.value.toString() }).toEqual({
      key: '/a',
      value: '3',
      revision: 5,
      created: 2,
    });
    await expect(remove('/a', 5)).rejects.toMatchObject({ code: 'missing' });
  });

  it('knows its own write from the same bytes of somebody else', async () => {
    const etcd = new FakeEtcd();
    const [mine, theirs] = [client(etcd), client(etcd)];
    const { revision } = await mine.create('/a', '1');
    etcd.plan = ['never arrived'];
    const writing = mine.update('/a', 'same', revision);
    const other = await theirs.update('/a', 'same', revision);
    await expect(writing).rejects.toMatchObject({ code: 'conflict', current: { revision: other.revision } });
  });

  it('cannot happen after a later attempt was answered', async () => {
    const etcd = new FakeEtcd();
    const { create, delete: remove } = client(etcd);
    etcd.plan = ['late'];
    const made = await create('/a', '1');
    await remove('/a', made.revision);
    etcd.deliverLate();
    expect(etcd.journal.map((e) => e.value)).toEqual(['1', undefined]);
  });

  it('says that its outcome is not known also where its only attempt had no answer', async () => {
    const etcd = new FakeEtcd();
    etcd.mayRetry = async () => false;
    const { create } = client(etcd);
    etcd.plan = ['answer lost'];
    await expect(create('/a', '1')).rejects.toThrow('etcd: whether /a was written is not known');
    expect(etcd.journal).toHaveLength(1);
  });

  it('goes on after its mark was swept away', async () => {
    const etcd = new FakeEtcd();
    const { create, update } = client(etcd);
    const made = await create('/a', '1');
    for (const key of etcd.state.keys()) if (key.includes('/meta/')) etcd.state.delete(key);
    expect(await update('/a', '2', made.revision)).toMatchObject({ created: made.revision });
  });
});

type Step = {
  kind: 'create' | 'update' | 'delete';
  key: number;
  client: number;
  fates: Fate[];
  late: boolean;
};

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('create', 'update', 'delete'),
    key: fc.nat(1),
    client: fc.nat(1),
    fates: fc.array(fc.constantFrom<Fate>('answer lost', 'never arrived', 'late', 'answered'), {
      maxLength: 4,
    }),
    late: fc.boolean(),
  }),
  { maxLength: 30, size: 'max' },
);

describe('whatever the network does to the answers', () => {
  it('each write happens as it was reported: once, at that revision, or not at all', async () => {
    const property = fc.asyncProperty(steps, async (plan) => {
      const etcd = new FakeEtcd();
      const clients = [client(etcd), client(etcd)];
      const reported: { revision: number; key: string; value: string | undefined }[] = [];
      for (const [i, step] of plan.entries()) {
        const key = `/${step.key}`;
        const { create, update, delete: remove } = clients[step.client]!;
        const there = etcd.state.get(`/atoll/data${key}`)?.modRevision;
        // Few different values: the same bytes must not be mistaken for the same write.
        const value = step.kind === 'delete' ? undefined : String(i % 2);
        etcd.plan = [...step.fates];
        const fits = (step.kind === 'create') === (there === undefined);
        const writing =
          step.kind === 'create'
            ? create(key, String(i % 2))
            : step.kind === 'update'
              ? update(key, String(i % 2), there ?? 1)
              : remove(key, there ?? 1);
        const result = await writing.catch(codeOf);
        if (fits) {
          expect(result).toMatchObject({ key });
          reported.push({ revision: (result as Entry).revision, key, value });
        } else expect(result).toBe(step.kind === 'create' ? 'exists' : 'missing');
        if (step.late) etcd.deliverLate();
      }
      etcd.deliverLate();
      expect(reported).toEqual(etcd.journal);
    });
    await fc.assert(property, { numRuns: 500 });
  });
});
