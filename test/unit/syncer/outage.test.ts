import { expect, test } from 'vitest';
import { TransportError } from '../../../client/errors.ts';
import type { Logger } from '../../../kube/log.ts';
import { Outage } from '../../../syncer/outage.ts';

function recording(): { lines: string[]; logger: Logger } {
  const lines: string[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    const { err: _, ...shown } = fields as { err?: unknown };
    lines.push(`${level} ${message} ${JSON.stringify(shown)}`);
  };
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
}

test('an outage is a line as it begins and one when it is over; what fails meanwhile is for debug', () => {
  const { lines, logger } = recording();
  const outage = new Outage('east', logger);
  const own = outage.logger();
  const gone = new TransportError('ECONNREFUSED', 'connect ECONNREFUSED');
  outage.heard(undefined);
  own.warn({ err: new Error('a webhook') }, 'list or watch failed');
  // The heartbeat tells of it, at most one interval later.
  own.warn({ err: gone }, 'list or watch failed');
  outage.heard('connect ECONNREFUSED');
  outage.heard('connect ECONNREFUSED');
  own.warn({ err: new Error('500'), kind: 'Pod' }, 'list or watch failed');
  own.warn({ what: 'else' }, 'without an error');
  outage.heard(undefined);
  outage.heard(undefined);
  own.warn({ err: new Error('500') }, 'list or watch failed');
  expect(lines).toEqual([
    'warn list or watch failed {"physicalCluster":"east"}',
    'debug list or watch failed {"physicalCluster":"east"}',
    'warn a physical cluster does not answer {"physicalCluster":"east","error":"connect ECONNREFUSED"}',
    'debug list or watch failed {"physicalCluster":"east","kind":"Pod"}',
    'warn without an error {"physicalCluster":"east","what":"else"}',
    'info a physical cluster answers again {"physicalCluster":"east","seconds":0}',
    'warn list or watch failed {"physicalCluster":"east"}',
  ]);
});
