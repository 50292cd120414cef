import { expect, it } from 'vitest';
import { newLogicalClusterId } from '../../../cluster/logical.ts';
import { shardCount, shardOf } from '../../../controller/shards.ts';

it('each logical cluster is in one part, the same always, and the parts are about as large', () => {
  const sizes = Array.from({ length: shardCount }, () => 0);
  for (let i = 0; i < 8000; i++) {
    const shard = shardOf(newLogicalClusterId());
    sizes[shard] = (sizes[shard] ?? 0) + 1;
  }
  expect(sizes).toHaveLength(shardCount);
  for (const size of sizes) {
    expect(size).toBeGreaterThan(800);
    expect(size).toBeLessThan(1200);
  }
});
