import { appConfig } from '../../vite.app.ts';

export default appConfig('home');
