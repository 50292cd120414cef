import https from 'node:https';
import { within } from '../../../kube/within.ts';

const timeoutMs = 10_000;
const mostBytes = 1024 * 1024;

/**
 * GET of a JSON document over HTTPS, in bounded time and size; a redirect is an answer like any that is no 200.
 * @param ca PEM: alone trusted; else whom this machine trusts.
 */
export function fetchJson(url: string, ca: string | undefined): Promise<unknown> {
  return within(timeoutMs, undefined, (signal) => fetched(url, ca, signal));
}

function fetched(url: string, ca: string | undefined, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (new URL(url).protocol !== 'https:') return reject(new Error(`${url}: URL scheme must be https`));
    const options = { agent: false, signal, ...(ca && { ca }) };
    const request = https.get(url, { ...options, headers: { accept: 'application/json' } }, (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      if (answer.statusCode !== 200) request.destroy(new Error(`${url}: ${answer.statusCode}`));
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > mostBytes) request.destroy(new Error(`${url}: more than ${mostBytes} bytes`));
        else chunks.push(chunk);
      });
      answer.on('error', reject);
      answer.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString()));
        } catch {
          reject(new Error(`${url}: no JSON`));
        }
      });
    });
    request.on('error', reject);
  });
}
