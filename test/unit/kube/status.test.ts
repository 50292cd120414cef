import { describe, expect, it } from 'vitest';
import {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  forbidden,
  internalError,
  invalid,
  isStatusError,
  notFound,
  type StatusDetails,
  StatusError,
  staleObject,
  unauthorized,
} from '../../../kube/status.ts';

const pods = { group: '', resource: 'pods' };
const deployments = { group: 'apps', resource: 'deployments' };
const causes = [
  { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.selector' },
  { reason: 'FieldValueInvalid', message: 'Invalid value: -1: must be positive', field: 'spec.replicas' },
];

describe('Status as kube-apiserver writes it', () => {
  it.each<[StatusError, number, string, string, StatusDetails | undefined]>([
    [notFound(pods, 'a'), 404, 'NotFound', 'pods "a" not found', { name: 'a', kind: 'pods' }],
    [
      notFound(deployments, 'a\u001b"'),
      404,
      'NotFound',
      'deployments.apps "a\\x1b\\"" not found',
      { name: 'a\u001b"', group: 'apps', kind: 'deployments' },
    ],
    [
      alreadyExists(deployments, 'a'),
      409,
      'AlreadyExists',
      'deployments.apps "a" already exists',
      { name: 'a', group: 'apps', kind: 'deployments' },
    ],
    [
      conflict(pods, 'a', staleObject),
      409,
      'Conflict',
      'Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
      { name: 'a', kind: 'pods' },
    ],
    [
      invalid('apps', 'Deployment', 'a', causes),
      422,
      'Invalid',
      'Deployment.apps "a" is invalid: [spec.selector: Required value, spec.replicas: Invalid value: -1: must be positive]',
      { name: 'a', group: 'apps', kind: 'Deployment', causes },
    ],
    [
      invalid('', 'Pod', '', causes.slice(0, 1)),
      422,
      'Invalid',
      'Pod "" is invalid: spec.selector: Required value',
      { kind: 'Pod', causes: causes.slice(0, 1) },
    ],
    [
      invalid('', 'Pod', 'a', []),
      422,
      'Invalid',
      'Pod "a" is invalid: <nil>',
      { name: 'a', kind: 'Pod', causes: [] },
    ],
    [badRequest('no'), 400, 'BadRequest', 'no', undefined],
    [unauthorized(), 401, 'Unauthorized', 'Unauthorized', undefined],
    [
      forbidden(pods, 'a', 'because'),
      403,
      'Forbidden',
      'pods "a" is forbidden: because',
      { name: 'a', kind: 'pods' },
    ],
    [forbidden(pods, '', 'because'), 403, 'Forbidden', 'pods is forbidden: because', { kind: 'pods' }],
    [expired('too old'), 410, 'Expired', 'too old', undefined],
    [
      internalError('broken'),
      500,
      'InternalError',
      'Internal error occurred: broken',
      { causes: [{ message: 'broken' }] },
    ],
  ])('%s', (error, code, reason, message, details) => {
    expect(error.toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details && { details }),
      code,
    });
  });

  it('names no reason where there is none, and each problem once', () => {
    expect(new StatusError(500, '', 'x').toStatus()).not.toHaveProperty('reason');
    expect(invalid('', 'Pod', 'a', [...causes.slice(0, 1), ...causes.slice(0, 1)]).message).toBe(
      'Pod "a" is invalid: spec.selector: Required value',
    );
  });
});

it('tells its own errors from others', () => {
  expect(isStatusError(notFound(pods, 'a'))).toBe(true);
  expect(isStatusError(notFound(pods, 'a'), 'NotFound')).toBe(true);
  expect(isStatusError(notFound(pods, 'a'), 'Conflict')).toBe(false);
  expect(isStatusError(new Error('NotFound'))).toBe(false);
  expect(internalError('x', 'why').cause).toBe('why');
});
