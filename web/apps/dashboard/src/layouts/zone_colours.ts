import { PRICE_COLOURS, type SeatPlan, type ZonePrice } from '@voelgoed/seat-map';

/** Every zone in a colour of its own, as far as there are colours, with what is said under its name. */
export function zoneColours(
  plan: SeatPlan,
  label: (capacity: number) => string,
): Map<string, ZonePrice> {
  return new Map(
    plan.zones.map(({ id, capacity }, index) => [
      id,
      { colour: index % PRICE_COLOURS, label: label(capacity) },
    ]),
  );
}
