export interface LogIn {
  email: string;
  password: string;
}

/** What a server writes about its demo organisation. */
export interface Demo {
  organization_slug: string;
  users: Record<'owner' | 'box_office' | 'gate_supervisor' | 'customer', LogIn>;
  event_id: string;
  gates: { id: string; code: string; name: string }[];
}
