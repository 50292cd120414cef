import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { translate, verdict } from '../../../../storage/etcd/errors.ts';
import { StoreError } from '../../../../storage/store.ts';

const failure = (code: number, details: string) => Object.assign(new Error(details), { code, details });

describe('verdict', () => {
  it.each([
    [status.UNAVAILABLE, 'No connection established', 'again', 'unavailable'],
    [status.UNAVAILABLE, 'etcdserver: request timed out', 'again', 'unavailable'],
    [status.DEADLINE_EXCEEDED, 'Deadline exceeded', 'again', 'unavailable'],
    [status.INTERNAL, 'Received RST_STREAM', 'again', 'unavailable'],
    [status.RESOURCE_EXHAUSTED, 'etcdserver: too many requests', 'again', 'unavailable'],
    [status.UNAUTHENTICATED, 'etcdserver: invalid auth token', 'login', 'unavailable'],
    [status.INVALID_ARGUMENT, 'etcdserver: revision of auth store is old', 'login', 'unavailable'],
    [status.INVALID_ARGUMENT, 'etcdserver: authentication failed', 'unavailable', 'unavailable'],
    [status.INVALID_ARGUMENT, 'etcdserver: request is too large', 'too-large', 'too-large'],
    [status.RESOURCE_EXHAUSTED, 'grpc: received message larger than max', 'too-large', 'too-large'],
    [status.RESOURCE_EXHAUSTED, 'etcdserver: mvcc: database space exceeded', 'full', 'full'],
    [status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted', 'compacted', 'compacted'],
    [status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision', 'future', 'future'],
    [status.DATA_LOSS, 'etcdserver: corrupt cluster', 'corrupt', 'corrupt'],
    [status.PERMISSION_DENIED, 'etcdserver: permission denied', 'unavailable', 'unavailable'],
  ])('of %i %s is %s', (code, details, expected, forCallers) => {
    const error = failure(code, details);
    expect(verdict(error)).toBe(expected);
    expect(translate(error, '/a')).toMatchObject({ code: forCallers, key: '/a', cause: error });
  });

  it('leaves what is not a failed call alone', () => {
    const bug = new TypeError('x');
    expect(translate(bug)).toBe(bug);
    expect(translate(new StoreError('closed', 'x'))).toMatchObject({ code: 'closed' });
  });
});
