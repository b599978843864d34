import { answer, type Api, type MembershipView, type User } from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';
import { Creation } from '../forms/creation.svelte.ts';
import { Edited } from '../forms/edited.svelte.ts';
import { Filled, only } from '../forms/filled.ts';
import { localOf } from '../forms/moments.ts';

export interface PersonFields {
  name: string;
  role: User['role'];
  status: User['status'];
}

type Status = MembershipView['membership']['status'];

export const MEMBERSHIP_STATUSES: readonly Status[] = ['active', 'suspended', 'cancelled'];

/** Of a membership there is, what can change. */
export interface MembershipFields {
  status: Status;
  valid_to: string;
}

export interface NewMembershipFields {
  tier: string;
  status: Status;
  valid_from: string;
  valid_to: string;
}

/** One account, its password, and what its owner is a member of. */
export class Person {
  readonly account: Edited<User, PersonFields>;
  readonly password: Creation<void, { new_password: string }>;
  readonly memberships: Listing<MembershipView>;
  readonly granting: Creation<void, NewMembershipFields>;
  readonly #api: Api;
  readonly #id: string;

  /** Memberships have no venue: their dates are on the reader's clock. */
  constructor(
    api: Api,
    id: string,
    readonly timeZone: string,
    now: () => number = Date.now,
  ) {
    this.#api = api;
    this.#id = id;
    const params = { path: { user_id: id } };
    this.account = new Edited<User, PersonFields>({
      read: async () => (await answer(api.GET('/api/users/{user_id}', { params }))).data,
      fieldsOf: ({ name, role, status }) => ({ name, role, status }),
      send: async (fields, changed, { version }) => {
        const filled = new Filled();
        const body = { ...fields, name: filled.text('name', fields.name) };
        filled.refuseFaults();
        const change = { version, ...only(body, changed) };
        return (await answer(api.PATCH('/api/users/{user_id}', { params, body: change }))).data;
      },
    });
    this.password = new Creation(
      () => ({ new_password: '' }),
      (body) => answer(api.PUT('/api/users/{user_id}/password', { params, body })).then(() => {}),
    );
    this.memberships = new Listing(async () => {
      const { data } = await answer(api.GET('/api/users/{user_id}/memberships', { params }));
      return { data, next: null };
    });
    this.granting = new Creation<void, NewMembershipFields>(
      () => ({
        tier: '',
        status: 'active',
        valid_from: localOf(new Date(now()).toISOString(), timeZone),
        valid_to: '',
      }),
      (fields, key) => this.#grant(fields, key),
    );
  }

  /** A membership to be changed: its tier and its beginning stay. */
  edited(view: MembershipView): Edited<MembershipView, MembershipFields> {
    const { id } = view.membership;
    const params = { path: { membership_id: id } };
    return new Edited<MembershipView, MembershipFields>(
      {
        read: async () => {
          await this.memberships.load();
          return this.memberships.items.find(({ membership }) => membership.id === id) ?? view;
        },
        fieldsOf: ({ membership: { status, valid_to: to } }) => ({
          status,
          valid_to: to === null ? '' : localOf(to, this.timeZone),
        }),
        send: async (fields, changed, { membership: { version } }) => {
          const filled = new Filled();
          const valid_to = filled.momentOrNone('valid_to', fields.valid_to, this.timeZone);
          filled.refuseFaults();
          const body = { version, ...only({ status: fields.status, valid_to }, changed) };
          const path = '/api/memberships/{membership_id}';
          const { data } = await answer(this.#api.PATCH(path, { params, body }));
          await this.memberships.load();
          return data;
        },
      },
      view,
    );
  }

  async #grant({ tier, status, valid_from: from, valid_to: to }: NewMembershipFields, key: string) {
    const filled = new Filled();
    const body = {
      tier: filled.text('tier', tier),
      status,
      valid_from: filled.moment('valid_from', from, this.timeZone),
      valid_to: filled.momentOrNone('valid_to', to, this.timeZone),
    };
    filled.refuseFaults();
    const params = { path: { user_id: this.#id }, header: { 'Idempotency-Key': key } };
    await answer(this.#api.POST('/api/users/{user_id}/memberships', { params, body }));
    await this.memberships.load();
  }
}
