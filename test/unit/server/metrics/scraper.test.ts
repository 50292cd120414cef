import { describe, expect, it } from 'vitest';
import type { Family } from '../../../../server/metrics/family.ts';
import { merged } from '../../../../server/metrics/merge.ts';
import { Remote } from '../../../../server/metrics/remote.ts';
import { Scraper } from '../../../../server/metrics/scraper.ts';

const requests = { name: 'requests_total', help: 'r', type: 'counter', labels: ['verb'] } as const;
const depth = { name: 'depth', help: 'd', type: 'gauge', labels: [] } as const;
const lag = { name: 'lag', help: 'l', type: 'gauge', labels: [], merge: 'max' } as const;
const began = { name: 'began', help: 'b', type: 'gauge', labels: [], merge: 'first' } as const;
const took = { name: 'took', help: 't', type: 'histogram', labels: [], bounds: [1, 2] } as const;

function counted(n: number): Family[] {
  const one = { figures: [{ labels: [], value: n }], spreads: [] };
  return [
    { definition: requests, figures: [{ labels: ['GET'], value: n }], spreads: [] },
    { definition: depth, ...one },
    { definition: lag, ...one },
    { definition: began, ...one },
    { definition: took, figures: [], spreads: [{ labels: [], counts: [n, 0, 1], sum: n }] },
  ];
}

function remoteThatSays(families: () => Family[] | undefined): Remote {
  const remote = new Remote(() => {
    const said = families();
    if (said !== undefined) remote.heard(said);
  });
  remote.ready = true;
  return remote;
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('the figures of several processes', () => {
  it('become one: sums, the most, the first, and buckets that add up', () => {
    const [r, d, l, b, t] = merged([counted(2), counted(5), counted(3)]);
    expect(r?.figures).toEqual([{ labels: ['GET'], value: 10 }]);
    expect([d, l, b].map((one) => one?.figures[0]?.value)).toEqual([10, 5, 2]);
    expect(t?.spreads).toEqual([{ labels: [], counts: [10, 0, 3], sum: 10 }]);
  });

  it('have their own labels apart', () => {
    const put = { definition: requests, figures: [{ labels: ['PUT'], value: 1 }], spreads: [] };
    expect(merged([counted(1), [put]])[0]?.figures).toEqual([
      { labels: ['GET'], value: 1 },
      { labels: ['PUT'], value: 1 },
    ]);
  });
});

describe('a scrape', () => {
  it('has what all processes count, and those that ended', async () => {
    let said: Family[] | undefined = counted(10);
    const scraper = new Scraper({ families: async () => counted(1) }, 1);
    const remote = remoteThatSays(() => said);
    scraper.join('serving', remote, true);
    const value = async (name: string) => {
      const { text } = await scraper.page(undefined);
      return lines(text)
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1);
    };
    expect(await value('requests_total{')).toBe('11');
    expect(await value('depth')).toBe('11');
    expect(await value('atoll_process_answered{process="serving-1"}')).toBe('1');
    // It says nothing: its counters stay, how it is nobody knows.
    said = undefined;
    expect(await value('requests_total{')).toBe('11');
    expect(await value('depth')).toBe('1');
    expect(await value('atoll_process_answered{process="serving-1"}')).toBe('0');
    scraper.leave(remote);
    expect(await value('requests_total{')).toBe('11');
    expect(await value('took_count')).toBe('13');
    expect(await value('atoll_process_answered{process="serving-1"}')).toBeUndefined();
    // Another one takes its place, and its name.
    scraper.join(
      'serving',
      remoteThatSays(() => counted(4)),
      true,
    );
    expect(await value('requests_total{')).toBe('15');
    expect(await value('atoll_process_answered{process="serving-1"}')).toBe('1');
  });

  it('is as the one who asks wants it', async () => {
    const scraper = new Scraper({ families: async () => counted(1) });
    const plain = await scraper.page('text/plain;version=0.0.4');
    expect(plain.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(lines(plain.text)).toEqual([
      'requests_total{verb="GET"} 1',
      'depth 1',
      'lag 1',
      'began 1',
      'took_bucket{le="1"} 1',
      'took_bucket{le="2"} 1',
      'took_bucket{le="+Inf"} 2',
      'took_sum 1',
      'took_count 2',
      'atoll_process_answered{process="first"} 1',
    ]);
    const open = await scraper.page('application/openmetrics-text;version=1.0.0,text/plain;q=0.5');
    expect(open.contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(open.text).toContain('# TYPE requests counter\nrequests_total{verb="GET"} 1\n');
    expect(open.text).toMatch(/\n# EOF\n$/);
  });
});
