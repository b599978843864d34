import { soldOut } from './en_problems.ts';
import type { FaultWords } from './en_faults.ts';
import type { ProblemWords } from './problem_words.ts';

/**
 * Sentences of the server that say more than their code: how many, which seat, since when. They
 * are read as sentences because that is where the number is: what is only asked about has no
 * details. One that was worded anew is told by its code, until it stands here.
 */
export const reasons: FaultWords = [
  [
    /^One booking has at most (\d+) seats\.$/,
    (most) => `Een bespreking het hoogstens ${most} sitplekke.`,
  ],
  [
    /^One booking has at most (\d+) wheelchair places?\.$/,
    (most) => `Een bespreking het hoogstens ${most} rolstoelplek${most === '1' ? '' : 'ke'}.`,
  ],
  [
    /^A party cannot have more wheelchair users than people\.$/,
    () => 'Daar kan nie meer rolstoelgebruikers as mense wees nie.',
  ],
  [
    /^At most (\d+) seats can be held in (\d+) minutes; wait a little\.$/,
    (most, minutes) =>
      `Jy kan hoogstens ${most} sitplekke in ${minutes} minute hou; wag ’n bietjie.`,
  ],
  [/^Seat (\S+) is held by somebody\.$/, (seat) => `Sitplek ${seat} word deur iemand gehou.`],
  [/^Seat (\S+) is sold\.$/, (seat) => `Sitplek ${seat} is verkoop.`],
  [/^Seat (\S+) is blocked\.$/, (seat) => `Sitplek ${seat} is nie te koop nie.`],
  [
    /^Seat (\S+) is kept back; the box office can sell it\.$/,
    (seat) => `Sitplek ${seat} word teruggehou; die loket kan dit verkoop.`,
  ],
  [
    /^Seat (\S+) is kept for the companion of a wheelchair user\.$/,
    (seat) => `Sitplek ${seat} word gehou vir die metgesel van ’n rolstoelgebruiker.`,
  ],
  [
    /^At this event seats are chosen for you; say how many you need\.$/,
    () => 'By hierdie geleentheid word sitplekke vir jou gekies; sê hoeveel jy nodig het.',
  ],
  [
    /^This table is sold as a whole; take all of its seats\.$/,
    () => 'Hierdie tafel word as geheel verkoop; neem al sy sitplekke.',
  ],
  [
    /^At this event a group sits side by side in one row\.$/,
    () => 'By hierdie geleentheid sit ’n groep langs mekaar in een ry.',
  ],
  [
    /^Seats? (.+) would be left alone, with no free seat beside (?:it|them)\.$/,
    (seats) => `Dit sou ${seats} alleen laat, sonder ’n oop sitplek langsaan.`,
  ],
  [
    /^(?:(\S+@\S+): )?This zone is for (.+) members; your membership begins on (.+)\.$/,
    (who, tier, day) =>
      `${by(who)}Hierdie sone is vir lede van ${plain(tier)}; ${whose(who)} lidmaatskap begin op ${date(day)}.`,
  ],
  [
    /^(?:(\S+@\S+): )?This zone is for (.+) members; your membership ended on (.+)\.$/,
    (who, tier, day) =>
      `${by(who)}Hierdie sone is vir lede van ${plain(tier)}; ${whose(who)} lidmaatskap het op ${date(day)} geëindig.`,
  ],
  [
    /^(?:(\S+@\S+): )?This zone is for (.+) members; your membership is (\w+)\.$/,
    (who, tier, status) =>
      `${by(who)}Hierdie sone is vir lede van ${plain(tier)}; ${whose(who)} lidmaatskap is ${status === 'suspended' ? 'opgeskort' : 'gekanselleer'}.`,
  ],
  [
    /^(?:(\S+@\S+): )?This zone is for (.+) members\.$/,
    (who, tier) => `${by(who)}Hierdie sone is vir lede van ${plain(tier)}.`,
  ],
  [
    /^(?:(\S+@\S+): )?This zone is only for these roles: .+\.$/,
    (who) => `${by(who)}Hierdie sone is vir personeel en gaste van die huis.`,
  ],
  [
    /^(?:(\S+@\S+): )?This zone is for people on its whitelist; your address is not on it\.$/,
    (who) =>
      `${by(who)}Hierdie sone is vir dié op sy gastelys; ${whose(who)} adres is nie daarop nie.`,
  ],
  [
    /^(\S+@\S+) is neither entitled to this zone nor on its guest list\.$/,
    (who) => `${who} mag nie in hierdie sone wees nie en is nie op sy gastelys nie.`,
  ],
  [
    /^Log in first: this zone is not open to all\.$/,
    () => 'Teken eers in: hierdie sone is nie vir almal oop nie.',
  ],
];

/** Where the details say it, and the sentence does not. */
export const told: ProblemWords = {
  ticket_type_sold_out: ({ details }) => {
    const left = soldOut(details);
    return left ? `Daar is nie soveel oor nie: ${left}.` : undefined;
  },
  zone_access_denied: ({ details }) => DENIED[String(details?.reason)],
};

const DENIED: Record<string, string> = {
  membership_required: 'Hierdie sone is vir lede.',
  membership_inactive: 'Hierdie sone is vir lede; die lidmaatskap is nie nou geldig nie.',
  membership_not_yet_valid: 'Hierdie sone is vir lede; die lidmaatskap het nog nie begin nie.',
  membership_expired: 'Hierdie sone is vir lede; die lidmaatskap is verby.',
  role_required: 'Hierdie sone is vir personeel en gaste van die huis.',
  not_whitelisted: 'Hierdie sone is vir dié op sy gastelys.',
  guest_not_entitled: 'Iemand wat saamkom, mag nie in hierdie sone wees nie.',
};

const MONTHS: Record<string, string> = {
  January: 'Januarie',
  February: 'Februarie',
  March: 'Maart',
  April: 'April',
  May: 'Mei',
  June: 'Junie',
  July: 'Julie',
  August: 'Augustus',
  September: 'September',
  October: 'Oktober',
  November: 'November',
  December: 'Desember',
};

function date(english: string): string {
  return english.replace(/[A-Z]\w+/, (month) => MONTHS[month] ?? month);
}

/** A tier as people write it: `gold circle`. */
function plain(tier: string): string {
  return tier.replaceAll('_', ' ');
}

/** To who sells to somebody else it is said of whom the server speaks. */
function by(who: string | undefined): string {
  return who ? `${who}: ` : '';
}

function whose(who: string | undefined): string {
  return who ? 'dié' : 'jou';
}
