import { readFileSync } from 'node:fs';

/** Atoll's own version, from the package it was installed as. */
export function atollVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (manifest.name === 'atoll' && manifest.version) return manifest.version;
    } catch {
      // In dist/ the manifest is one folder further up.
    }
  }
  return '0.0.0';
}

/** The Kubernetes whose API we serve. */
export const kubernetesVersion = '1.36.3';
