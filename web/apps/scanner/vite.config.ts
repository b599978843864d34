import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, mergeConfig, type Plugin } from 'vite';
import { appConfig } from '../../vite.app.ts';
import type { ShellFile, ShellVersion } from './src/sw/shell.ts';

const WORKER = 'sw.js';

export default mergeConfig(appConfig('scanner'), {
  plugins: [serviceWorker()],
  worker: { format: 'es' },
});

/** Builds the service worker last, because it names every other file with its hash. */
function serviceWorker(): Plugin {
  let root = '';
  let outDir = '';
  let base = '';
  return {
    name: 'voelgoed-service-worker',
    apply: 'build',
    configResolved(config) {
      ({ root, base } = config);
      outDir = config.build.outDir;
    },
    async writeBundle() {
      await build({
        configFile: false,
        root,
        publicDir: false,
        logLevel: 'warn',
        define: { SHELL_VERSION: JSON.stringify(shellVersion(outDir, base)) },
        build: {
          outDir,
          emptyOutDir: false,
          modulePreload: false,
          rolldownOptions: {
            input: join(root, 'src/sw/service_worker.ts'),
            output: { entryFileNames: WORKER, format: 'iife' },
          },
        },
      });
    },
  };
}

function shellVersion(outDir: string, base: string): ShellVersion {
  const files = readdirSync(outDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(outDir.length).replace(/^\/+/, ''))
    .filter((name) => name !== WORKER)
    .sort()
    .map((name) => shellFile(outDir, base, name));
  return { version: sha256(JSON.stringify(files), 'hex').slice(0, 16), base, files };
}

function shellFile(outDir: string, base: string, name: string): ShellFile {
  const integrity = `sha256-${sha256(readFileSync(join(outDir, name)), 'base64')}`;
  // The page is asked for by its directory.
  return { path: base + (name === 'index.html' ? '' : name), integrity };
}

function sha256(content: string | Buffer, as: 'hex' | 'base64'): string {
  return createHash('sha256').update(content).digest(as);
}
