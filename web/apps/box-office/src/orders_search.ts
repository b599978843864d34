/**
 * What somebody looked for, kept beside the page in the browser's history: Back finds it again.
 * Not in the address, where the list of visited pages would name the customers of a box office.
 */
export interface OrdersSearch {
  number: string;
  email: string;
}

type Kept = Pick<History, 'state' | 'replaceState'>;

export function keepSearch(history: Kept, search: OrdersSearch): void {
  history.replaceState({ ordersSearch: search }, '');
}

export function keptSearch(history: Kept): OrdersSearch {
  const state = history.state as { ordersSearch?: Partial<OrdersSearch> } | null;
  const { number = '', email = '' } = state?.ordersSearch ?? {};
  return { number, email };
}
