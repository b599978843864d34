/** Of the API's answers, what this app uses; the compiler compares them with its description. */

export interface Offer {
  ticket_type_id: string;
  name: string;
  currency: string;
  amount_minor: number;
  left: number | null;
  max_per_order: number | null;
}

export interface TicketType {
  id: string;
  name: string;
  valid_days: string[] | null;
}

export interface Hold {
  hold_id: string;
  booking_id: string;
  event_id: string;
  seat_label: string | null;
  zone_id: string;
  block_name: string;
  places: number;
  days: string[] | null;
  expires_in_seconds: number;
  can_extend: boolean;
}

export interface Problem {
  code: string;
  message: string;
  seat_ids?: string[];
}

export interface Proposal {
  seats: { seat_id: string }[];
  together: boolean;
}

export interface SelectionCheck {
  bookable: boolean;
  problems: Problem[];
  warnings: Problem[];
  orphans: string[];
  alternatives: Proposal[];
}

/** What somebody is let in by: of a ticket, and of a line of an order that has none yet. */
export interface Right {
  ticket_type_id: string;
  zone_id: string | null;
  seat_id: string | null;
  seat_label: string | null;
  days: string[];
  price_minor: number;
}

export interface OrderLine extends Right {
  line: number;
}

export interface Ticket extends Right {
  id: string;
  code: string;
  status: 'active' | 'scanned' | 'used' | 'voided' | 'refunded';
  holder_name: string;
  issue: number;
}

export interface Order {
  id: string;
  number: string;
  event_id: string;
  buyer_name: string;
  buyer_email: string | null;
  status:
    'pending' | 'paid' | 'cancelled' | 'expired' | 'refund_due' | 'partially_refunded' | 'refunded';
  currency: string;
  total_minor: number;
  refunded_minor: number;
  created_at: string;
}

export interface OrderDetails {
  order: Order;
  payments: { refund_due_minor: number }[];
  lines: OrderLine[];
  tickets: Ticket[];
  page: string;
  redirect_url?: string | null;
}
