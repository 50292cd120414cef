import type { ApiResponse } from '../../kube/http.ts';
import { jsonBytes } from '../encode/respond.ts';

/** What clients compare themselves with: kubectl warns beyond one minor version of skew. */
export const defaultGitVersion = 'v1.36.3+atoll';

export function handleVersion(gitVersion: string): ApiResponse {
  const [, major = '1', minor = '36'] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  const version = {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'go1.26.8',
    compiler: 'gc',
    platform: 'linux/amd64',
  };
  return jsonBytes(200, Buffer.from(JSON.stringify(version, undefined, 2)));
}
