import { answer, type Api, type User } from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';
import { Creation } from '../forms/creation.svelte.ts';
import { Filled } from '../forms/filled.ts';
import type { Role } from './roles.ts';

const PAGE_LIMIT = 50;

export interface NewPerson {
  name: string;
  email: string;
  password: string;
  role: Role;
}

/** Everybody with an account, or those of one role. */
export class People {
  /** Empty for everybody. */
  role = $state<Role | ''>('');
  readonly list: Listing<User>;
  readonly creation: Creation<User, NewPerson>;

  constructor(api: Api) {
    this.list = new Listing((after) => {
      const { role } = this;
      const query = { limit: PAGE_LIMIT, ...(role && { role }), ...(after && { after }) };
      return answer(api.GET('/api/users', { params: { query } }));
    });
    this.creation = new Creation<User, NewPerson>(
      () => ({ name: '', email: '', password: '', role: 'box_office' }),
      async (fields, key) => {
        const params = { header: { 'Idempotency-Key': key } };
        const { data } = await answer(api.POST('/api/users', { params, body: newUser(fields) }));
        await this.list.load();
        return data;
      },
    );
  }

  async show(role: Role | ''): Promise<void> {
    this.role = role;
    await this.list.anew();
  }
}

function newUser({ name, email, password, role }: NewPerson) {
  const filled = new Filled();
  const body = { name: filled.text('name', name), email: filled.text('email', email) };
  filled.text('password', password);
  filled.refuseFaults();
  return { ...body, password, role };
}
