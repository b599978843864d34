import '@voelgoed/ui/base.css';
import 'swagger-ui-dist/swagger-ui.css';
import './viewer.css';
import { mount } from 'svelte';
import App from './App.svelte';

mount(App, { target: document.body });
