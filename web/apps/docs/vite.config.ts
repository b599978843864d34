import { mergeConfig } from 'vite';
import { appConfig } from '../../vite.app.ts';

export default mergeConfig(appConfig('docs', '/api/docs/'), {
  // The viewer is one large file; those who read API documentation can wait for it once.
  build: { chunkSizeWarningLimit: 2_000 },
});
