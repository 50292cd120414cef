import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../../../controller/queue.ts';
import { QueueMetrics, queueName } from '../../../../server/metrics/queues.ts';

describe('a queue', () => {
  it('is told by how long its keys waited and were worked on', async () => {
    let now = 0;
    const metrics = new QueueMetrics(() => now);
    const queue = new WorkQueue({ baseDelayMs: 1_000_000 });
    const watched = metrics.observe('splitter', queue);
    queue.observer = watched?.observer;
    const value = (name: string) => {
      const found = metrics.families().find(({ definition }) => definition.name === `workqueue_${name}`);
      return found?.figures[0]?.value ?? found?.spreads[0]?.sum;
    };
    queue.add('a');
    queue.add('a');
    queue.add('b');
    expect([value('adds_total'), value('depth')]).toEqual([2, 2]);
    now = 3_000;
    await queue.take();
    now = 5_000;
    expect([value('queue_duration_seconds'), value('depth')]).toEqual([3, 1]);
    expect([value('unfinished_work_seconds'), value('longest_running_processor_seconds')]).toEqual([2, 2]);
    queue.addRateLimited('a');
    queue.done('a');
    expect([value('work_duration_seconds'), value('retries_total')]).toEqual([2, 1]);
    expect(value('unfinished_work_seconds')).toBe(0);
    watched?.ended();
    expect([value('depth'), value('adds_total')]).toEqual([0, 2]);
    queue.close();
  });

  it.each([
    ['splitter', 'splitter'],
    ['syncer-down-east', 'syncer-down'],
    ['syncer-pods-east-1', 'syncer-pods'],
    ['syncer-lost', 'syncer-lost'],
  ])('of %s counts as %s', (name, expected) => expect(queueName(name)).toBe(expected));
});
