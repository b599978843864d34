const NUMBER = new Intl.NumberFormat('en-ZA');

export function places(count: number): string {
  return `${NUMBER.format(count)} ${count === 1 ? 'place' : 'places'}`;
}
