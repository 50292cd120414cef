import { describe, expect, test } from 'vitest';
import { timeZoneFormat } from '../../../kube/time-zone.ts';

describe('a time zone is one of the IANA’s, by its name as that is written', () => {
  const isZone = (name: string) => timeZoneFormat(name, 'en') !== undefined;

  test.each([
    'Europe/Berlin',
    'America/Port-au-Prince',
    'America/Argentina/Buenos_Aires',
    'Asia/Ust-Nera',
    'US/Eastern',
    'Asia/Calcutta',
    'Asia/Kolkata',
    'Etc/UTC',
    'Etc/GMT+3',
    'GMT+0',
    'UTC',
    'GMT',
    'EST',
    'EST5EDT',
    'PST8PDT',
    'CET',
    'PRC',
    'NZ',
    'NZ-CHAT',
    'W-SU',
    'GB-Eire',
    'Zulu',
    'Antarctica/DumontDUrville',
  ])('%s is one', (name) => expect(isZone(name)).toBe(true));

  test.each([
    'europe/berlin',
    'EUROPE/BERLIN',
    'us/eastern',
    'US/EASTERN',
    'america/port-au-prince',
    'etc/UTC',
    'asia/calcutta',
    'utc',
    'Utc',
    'gmt',
    'est5edt',
    'cet',
    'nz-chat',
    'local',
    'Local',
    '',
    'Europe/Nowhere',
    'PST',
    'IST',
    'BST',
    'JST',
    'AET',
    'US/Pacific-New',
    'SystemV/PST8PDT',
    '+05:00',
    'Europe/',
    '/UTC',
  ])('%j is none', (name) => expect(isZone(name)).toBe(false));
});
