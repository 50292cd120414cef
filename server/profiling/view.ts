import { mastersGroup } from '../../apiserver/authz/masters.ts';
import type { View } from '../../apiserver/options.ts';
import { badRequest, StatusError } from '../../kube/status.ts';
import { firstProcess } from './profiles.ts';
import type { Answer, Kind, Question } from './types.ts';

const kinds: Readonly<Record<string, Kind>> = {
  '/debug/pprof/profile': 'profile',
  '/debug/pprof/heap': 'heap',
};
/** A request has a minute. */
const longestSeconds = 50;
const defaultSeconds = 10;

/**
 * GET /debug/pprof/profile and /debug/pprof/heap, `?seconds=` and `?process=`: what a process of this server spends its time
 * or its memory on. It shows what all tenants have it do, so it is for system:masters alone.
 */
export function profilesView(take: (question: Question) => Promise<Answer>): View {
  return {
    owns: (path) => kinds[bare(path)] !== undefined,
    authorize: ({ user }) => ({ allowed: user.groups.includes(mastersGroup) }),
    async handle({ info, request: { method } }) {
      const kind = kinds[bare(info.path)] as Kind;
      if (method !== 'GET')
        throw new StatusError(405, 'MethodNotAllowed', `cannot ${info.verb} path "${info.path}"`, {});
      const process = info.query.get('process') ?? firstProcess;
      const answer = await take({ process, kind, seconds: secondsOf(info.query.get('seconds')) });
      if ('profile' in answer) {
        const headers = { 'content-type': 'application/json' };
        return { status: 200, headers, body: Buffer.from(answer.profile) };
      }
      const { failed, message } = answer;
      if (failed === 'busy') throw new StatusError(429, 'TooManyRequests', message);
      throw failed === 'unknown'
        ? new StatusError(404, 'NotFound', message)
        : new StatusError(503, 'ServiceUnavailable', message);
    },
  };
}

/** As kubectl asks whose kubeconfig is root's. */
function bare(path: string): string {
  return path.replace(/^\/clusters\/root(?=\/)/, '');
}

function secondsOf(text: string | null): number {
  if (text === null) return defaultSeconds;
  const seconds = Number(text);
  if (seconds > 0 && seconds <= longestSeconds) return seconds;
  throw badRequest(`seconds is ${JSON.stringify(text)}: expected a number up to ${longestSeconds}`);
}
