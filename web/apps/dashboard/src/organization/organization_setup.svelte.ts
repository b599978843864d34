import { answer, type Api, type Organization, type SessionSummary } from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';
import { Creation } from '../forms/creation.svelte.ts';
import { Edited } from '../forms/edited.svelte.ts';
import { Filled } from '../forms/filled.ts';

/** The organisation, and how whoever is logged in gets in. */
export class OrganizationSetup {
  readonly organization: Edited<Organization, { name: string }>;
  readonly password: Creation<void, { current_password: string; new_password: string }>;
  /** Where somebody is logged in. */
  readonly sessions: Listing<SessionSummary>;

  constructor(api: Api) {
    this.organization = new Edited({
      read: async () => (await answer(api.GET('/api/organization'))).data,
      fieldsOf: ({ name }) => ({ name }),
      send: async ({ name: typed }) => {
        const filled = new Filled();
        const body = { name: filled.text('name', typed) };
        filled.refuseFaults();
        return (await answer(api.PATCH('/api/organization', { body }))).data;
      },
    });
    this.password = new Creation(
      () => ({ current_password: '', new_password: '' }),
      async (body) => {
        await answer(api.PUT('/api/session/password', { body }));
        await this.sessions.load();
      },
    );
    this.sessions = new Listing(async () => {
      const { data } = await answer(api.GET('/api/sessions'));
      return { data, next: null };
    });
  }
}
