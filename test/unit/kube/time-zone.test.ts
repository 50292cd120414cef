import { describe, expect, test } from 'vitest';
import { timeZoneProblem } from '../../../kube/time-zone.ts';

describe('a time zone is one of the IANA’s, by its name as that is written', () => {
  const isZone = (name: string) => timeZoneProblem(name) === undefined;

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
    'America/Argentina/ComodRivadavia',
    'America/Knox_IN',
    'America/Coyhaique',
    'Etc/GMT-14',
    'GMT0',
    'ROK',
    'Factory',
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
    'Etc/Utc',
    'ETC/UTC',
    'Etc/gmt+3',
    'Etc/GMT+03',
    'Gmt+0',
    'Gmt0',
    'Gb',
    'Nz',
    'W-Su',
    'Est5edt',
    'Us/Pacific',
    'America/Buenos_aires',
    'America/Knox_In',
    'America',
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

  test('all that ICU lists are', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => !isZone(name))).toEqual([]);
  });

  test.each(['../UTC', 'Etc/../UTC', 'a..b', '/UTC', '\\\\UTC'])('%j is no name', (name) => {
    expect(timeZoneProblem(name)).toBe('time: invalid location name');
  });
});
