import { answer, type Api, type SeatingPolicy } from '@voelgoed/api';
import { Edited } from '../forms/edited.svelte.ts';
import { Filled, only } from '../forms/filled.ts';

type Mandatory = NonNullable<SeatingPolicy['mandatory']>;
export type PolicyField = Mandatory[number];

interface Rule {
  kind: 'switch' | 'number';
  /** A number that may be left empty. */
  mayBeEmpty?: true;
}

/** Every rule of the policy, as they are grouped on the page. */
export const POLICY = {
  offer: {
    allow_reserved_seating: { kind: 'switch' },
    allow_ga_seating: { kind: 'switch' },
    allow_hybrid_ga_reserved: { kind: 'switch' },
    allow_vip_zones: { kind: 'switch' },
  },
  choice: {
    max_seats_per_booking: { kind: 'number' },
    orphan_avoidance_strict: { kind: 'switch' },
    group_adjacency_strict: { kind: 'switch' },
    max_group_split: { kind: 'number' },
    prefer_clustering_over_selection: { kind: 'switch' },
  },
  accessibility: {
    enforce_accessibility_rules: { kind: 'switch' },
    max_wheelchair_seats_per_booking: { kind: 'number' },
    companion_release_occupancy_threshold: { kind: 'number' },
    accessibility_audit_enabled: { kind: 'switch' },
  },
  holds: {
    default_hold_ttl_minutes: { kind: 'number' },
    max_holds_per_user: { kind: 'number', mayBeEmpty: true },
    max_holds_per_ip: { kind: 'number', mayBeEmpty: true },
  },
} as const satisfies Record<string, Partial<Record<PolicyField, Rule>>>;

export type PolicyGroup = keyof typeof POLICY;

export const RULES: Record<PolicyField, Rule> = {
  ...POLICY.offer,
  ...POLICY.choice,
  ...POLICY.accessibility,
  ...POLICY.holds,
};

const NAMES = Object.keys(RULES) as PolicyField[];

/** Numbers are as they are typed. */
export type PolicyFields = Record<PolicyField, string | boolean> & { mandatory: PolicyField[] };

export function editedPolicy(api: Api): Edited<SeatingPolicy, PolicyFields> {
  return new Edited<SeatingPolicy, PolicyFields>({
    read: async () => (await answer(api.GET('/api/seating-policy'))).data,
    fieldsOf,
    send: async (fields, changed, { version = 1 }) => {
      const body = { version, ...only(bodyOf(fields), changed) };
      return (await answer(api.PATCH('/api/seating-policy', { body }))).data;
    },
  });
}

function fieldsOf(policy: SeatingPolicy): PolicyFields {
  const values = NAMES.map((name) => {
    const value = policy[name];
    return [name, typeof value === 'boolean' ? value : String(value ?? '')];
  });
  return { ...Object.fromEntries(values), mandatory: policy.mandatory ?? [] } as PolicyFields;
}

function bodyOf(fields: PolicyFields): Record<string, unknown> {
  const filled = new Filled();
  const values = NAMES.map((name) => {
    const value = fields[name];
    if (typeof value === 'boolean') return [name, value];
    const isOptional = RULES[name].mayBeEmpty;
    return [name, isOptional ? filled.wholeOrNone(name, value) : filled.whole(name, value)];
  });
  filled.refuseFaults();
  return { ...Object.fromEntries(values), mandatory: fields.mandatory };
}
