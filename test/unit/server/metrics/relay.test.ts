import { expect, it } from 'vitest';
import { Metrics } from '../../../../server/metrics/metrics.ts';
import { Relay } from '../../../../server/metrics/relay.ts';

it('while the first process is stuck a scrape says so, and no counter, which would be one of many', async () => {
  const { text } = await new Relay(new Metrics(), () => undefined).page(undefined);
  expect(text).toContain('atoll_process_answered{process="first"} 0');
  expect(text).toContain('# TYPE process_resident_memory_bytes gauge');
  expect(text).not.toMatch(/^# TYPE \w+ (counter|histogram)$/m);
});
