import { describe, expect, it } from 'vitest';
import { parseRequest } from '../../../../apiserver/request.ts';
import type { ApiRequest } from '../../../../kube/http.ts';
import type { Family } from '../../../../server/metrics/family.ts';
import { RequestMetrics } from '../../../../server/metrics/requests.ts';

const outcome = { code: 200, bytes: 10, seconds: 0.01 };

function told(metrics: RequestMetrics, method: string, url: string, more: Partial<ApiRequest> = {}): void {
  const request = { method, url, headers: {}, ...more };
  metrics.answered(request, parseRequest(method, url, { logicalClusters: true }), outcome);
}

function family(metrics: RequestMetrics, name: string): Family {
  const found = metrics.families().find(({ definition }) => definition.name === name);
  if (found === undefined) throw new Error(`no metric ${name}`);
  return found;
}

const pods = '/api/v1/namespaces/a/pods';
const apply = { headers: { 'content-type': 'application/apply-patch+yaml' } };

describe('the labels of a request', () => {
  // verb, dry_run, group, version, resource, subresource, scope
  it.each<[string, string, Partial<ApiRequest>, string]>([
    ['GET', `${pods}/x`, {}, 'GET,,,v1,pods,,resource'],
    ['HEAD', `${pods}/x`, {}, 'GET,,,v1,pods,,resource'],
    ['GET', pods, {}, 'LIST,,,v1,pods,,namespace'],
    ['GET', '/api/v1/pods', {}, 'LIST,,,v1,pods,,cluster'],
    ['GET', `${pods}?watch=1`, {}, 'WATCH,,,v1,pods,,namespace'],
    ['POST', pods, {}, 'POST,,,v1,pods,,resource'],
    ['POST', `${pods}?dryRun=All`, {}, 'POST,All,,v1,pods,,resource'],
    ['POST', `${pods}?dryRun=all`, {}, 'POST,invalid,,v1,pods,,resource'],
    ['PUT', `${pods}/x/status`, {}, 'PUT,,,v1,pods,status,resource'],
    ['PATCH', `${pods}/x`, {}, 'PATCH,,,v1,pods,,resource'],
    ['PATCH', `${pods}/x`, apply, 'APPLY,,,v1,pods,,resource'],
    ['DELETE', pods, {}, 'DELETE,,,v1,pods,,namespace'],
    ['GET', `${pods}/x/log`, {}, 'CONNECT,,,v1,pods,log,resource'],
    ['POST', `${pods}/x/exec`, {}, 'CONNECT,,,v1,pods,exec,resource'],
    ['BREW', `${pods}/x`, {}, 'other,,,v1,pods,,resource'],
    ['GET', `${pods}/x/tea`, {}, 'GET,,,v1,pods,other,resource'],
    ['GET', '/clusters/root:a/apis/apps/v1/deployments', {}, 'LIST,,apps,v1,deployments,,cluster'],
    [
      'GET',
      '/apis/atoll.dev/v1alpha1/physicalclusters/x/status',
      {},
      'GET,,atoll.dev,v1alpha1,physicalclusters,status,resource',
    ],
    ['GET', '/apis/example.com/v1/things', {}, 'LIST,,other,other,other,,cluster'],
    ['GET', '/apis/apps/v1/things', {}, 'LIST,,other,other,other,,cluster'],
    ['GET', '/healthz/ping', {}, 'GET,,,,,/healthz,'],
    ['GET', '/apis/apps', {}, 'GET,,,,,apis,'],
    ['GET', '/', {}, 'GET,,,,,/,'],
    ['GET', '/nothing', {}, 'GET,,,,,other,'],
  ])('%s %s', (method, url, more, expected) => {
    const metrics = new RequestMetrics();
    told(metrics, method, url, more);
    const [figure] = family(metrics, 'apiserver_request_total').figures;
    expect(figure).toEqual({ labels: [...expected.split(','), 'apiserver', '200'], value: 1 });
  });

  it('are few, whatever anybody sends', () => {
    const metrics = new RequestMetrics();
    const series = () =>
      metrics.families().reduce((n, { figures, spreads }) => n + figures.length + spreads.length, 0);
    const send = (n: number) => {
      const words = [`x${n}`, `y${n}`, `z${n}`];
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', `M${n}`]) {
        told(metrics, method, `/apis/${words.join('/')}`);
        told(metrics, method, `/apis/${words.join('/')}/n/${words[0]}`);
        told(metrics, method, `/api/v1/namespaces/${words.join('/')}/pods`);
        told(metrics, method, `/api/v1/${words.join('/')}`);
        told(metrics, method, `${pods}/x/${words[1]}?dryRun=${words[2]}`);
        told(metrics, method, `/clusters/root:${words[0]}/api/v1/pods`);
        told(metrics, method, `/${words.join('/')}`);
        metrics.answered({ method, url: '/', headers: {} }, undefined, { ...outcome, code: 600 + n });
      }
    };
    send(0);
    const first = series();
    for (let n = 1; n < 200; n++) send(n);
    expect(series()).toBe(first);
  });
});

describe('what is counted', () => {
  it('has the time, the size of what was read, and the code', () => {
    const metrics = new RequestMetrics();
    told(metrics, 'GET', `${pods}/x`);
    told(metrics, 'POST', pods);
    const [get] = family(metrics, 'apiserver_request_duration_seconds').spreads;
    expect(get?.counts.slice(0, 3)).toEqual([0, 1, 0]);
    expect(get?.sum).toBe(0.01);
    const sizes = family(metrics, 'apiserver_response_sizes').spreads;
    expect(sizes).toHaveLength(1);
    expect(sizes[0]?.counts[0]).toBe(1);
  });

  it('lasts until it ends', () => {
    const metrics = new RequestMetrics();
    const url = `${pods}?watch=1`;
    const info = parseRequest('GET', url, { logicalClusters: true });
    const value = () => family(metrics, 'apiserver_longrunning_requests').figures[0]?.value;
    const end = metrics.lasts({ method: 'GET', url, headers: {} }, info);
    expect(value()).toBe(1);
    end();
    expect(value()).toBe(0);
  });

  it('was the most at a time in the last second', () => {
    const metrics = new RequestMetrics();
    const value = () =>
      family(metrics, 'apiserver_current_inflight_requests').figures.map((one) => one.value);
    metrics.atWork('write', 7);
    metrics.atWork('write', 2);
    expect(value()).toEqual([0, 7]);
    metrics.tick();
    expect(value()).toEqual([0, 7]);
    metrics.tick();
    expect(value()).toEqual([0, 2]);
  });
});
