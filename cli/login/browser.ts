import { spawn } from 'node:child_process';

/** Shows it in the user's browser, if there is one; that it was not shown is no failure: it was printed, too. */
export function openBrowser(url: string): void {
  const [command, ...args] = opener(process.platform, process.env);
  if (command === undefined) return;
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

/** Empty where there is no screen. */
export function opener(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string[] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['BROWSER'] ? ['xdg-open'] : [];
}
