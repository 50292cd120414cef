import { expect, test } from 'vitest';
import { backupsAmong, tidied } from '../../../../server/audit/backups.ts';
import { backupName } from '../../../../server/audit/log-file.ts';
import { Batches } from '../../../../server/batches.ts';
import { Lost } from '../../../../server/lost.ts';
import { resolveSettings } from '../../../../server/settings.ts';

const at = new Date('2026-01-02T03:04:05.678Z');

test('a file that is put aside is known again by its name', () => {
  expect(backupName('/var/log/audit.log', at)).toBe('/var/log/audit-2026-01-02T03-04-05.678.log');
  const name = 'audit-2026-01-02T03-04-05.678.log';
  const names = ['audit.log', name, `${name}.gz`, 'audit-old.log', 'other-2026-01-02T03-04-05.678.log'];
  expect(backupsAmong(names, '/var/log/audit.log')).toEqual([
    { name, at: at.getTime() },
    { name: `${name}.gz`, at: at.getTime() },
  ]);
});

test('the oldest go, by number and by age, and what is quiet is packed', () => {
  const day = 86_400_000;
  const now = 100 * day;
  const backups = [1, 2, 3, 9].map((days) => ({ name: `${days}`, at: now - days * day }));
  const keep = { maxAgeDays: 5, maxBackups: 0, compress: false };
  expect(tidied(backups, keep, now)).toEqual({ gone: ['9'], packed: [] });
  expect(tidied(backups, { ...keep, maxBackups: 1, compress: true }, now)).toEqual({
    gone: ['2', '3', '9'],
    packed: ['1'],
  });
  expect(tidied([{ name: 'new', at: now - 1 }], { ...keep, compress: true }, now).packed).toEqual([]);
});

test('a webhook is sent what there is room for, and the rest is counted', async () => {
  const sent: (readonly string[])[] = [];
  let dropped = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const batches = new Batches({
    bufferSize: 3,
    batchSize: 2,
    maxWaitMs: 60_000,
    backoffMs: 1,
    dropped: (count) => {
      dropped += count;
    },
    send: async (events) => {
      sent.push(events.map((event) => Buffer.from(event).toString()));
      await held;
    },
  });
  for (const line of ['a', 'b', 'c', 'd', 'e', 'f']) batches.write(line);
  expect(dropped).toBe(1);
  release();
  await batches.close();
  expect(sent).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('events that a webhook refuses five times are dropped', async () => {
  let tries = 0;
  const over = new Promise<number>((resolve) => {
    const batches = new Batches({
      bufferSize: 10,
      batchSize: 1,
      maxWaitMs: 60_000,
      backoffMs: 0,
      dropped: resolve,
      send: () => {
        tries++;
        return Promise.reject(new Error('no'));
      },
    });
    batches.write('a');
  });
  expect(await over).toBe(1);
  expect(tries).toBe(5);
});

test('what is lost is counted at once, and told once a minute', () => {
  let now = 0;
  const told: object[] = [];
  let counted = 0;
  const logger = { error: (values: object) => told.push(values) };
  const lost = new Lost(
    logger,
    (_, count) => {
      counted += count;
    },
    () => now,
  );
  for (let i = 0; i < 1000; i++) lost.add('buffered', 1);
  const err = new Error('full');
  lost.add('log', 5, err);
  now = 61_000;
  lost.add('buffered', 1);
  lost.add('log', 2, err);
  lost.add('log', 1, err);
  lost.close();
  expect(counted).toBe(1009);
  expect(told).toEqual([
    { plugin: 'buffered', lost: 1 },
    { plugin: 'log', lost: 5, err },
    { plugin: 'buffered', lost: 1000 },
    { plugin: 'log', lost: 2, err },
    { plugin: 'log', lost: 1 },
  ]);
});

test.each([
  [{ auditLogPath: '/a' }, 'records nothing without --audit-policy-file'],
  [{ auditPolicyFile: '/a' }, 'needs --audit-log-path or --audit-webhook-config-file'],
  [{ auditPolicyFile: '/a', auditLogPath: '-', auditLogMaxsize: 'x' }, '--audit-log-maxsize x'],
])('settings that say nothing: %o', (flags, why) => {
  expect(() => resolveSettings(flags, undefined, {})).toThrow(why);
});

test('settings of a file', () => {
  const { audit } = resolveSettings({ auditPolicyFile: '/p', auditLogPath: '/l' }, undefined, {});
  expect(audit).toEqual({
    policyFile: '/p',
    log: { path: '/l', maxBytes: 100 << 20, maxAgeDays: 366, maxBackups: 100, compress: false },
  });
});
