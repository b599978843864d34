/** The config of a house of one block of seats, and perhaps an area in front of it. */
export function aHouse(rows: number, perRow: number): Record<string, unknown> {
  const seats = Array.from({ length: rows * perRow }, (_, index) => {
    const [row, number] = [Math.floor(index / perRow), (index % perRow) + 1];
    return {
      seat_id: `R${row + 1}-${number}`,
      row: `R${row + 1}`,
      number,
      coordinates: { x: number, y: row + 5 },
    };
  });
  return {
    zones: [
      {
        zone_id: 'pit',
        zone_type: 'ga_standing',
        name: 'Pit',
        capacity: 40,
        metadata: { x: 1, y: 0, width: perRow, height: 3 },
      },
      { zone_id: 'stalls', zone_type: 'reserved_seating', name: 'Stalls', capacity: 1, seats },
    ],
    focal_point: { x: perRow / 2, y: -4 },
  };
}
