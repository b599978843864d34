import type { Messages } from './en.ts';

export const policy: Messages['policy'] = {
  title: 'Sitplekbeleid',
  text: 'Wat oor sitplekke en besprekings by al jou geleenthede geld. ’n Geleentheid mag anders maak waar dit nie bindend is nie.',
  reading: 'Lees die sitplekbeleid',
  failed: 'Die sitplekbeleid kon nie gelees word nie',
  readOnly: 'Jou rol mag dit lees en nie verander nie.',
  binding: (rule) => `Bindend vir alle geleenthede: ${rule}`,
  groups: {
    offer: 'Wat aangebied mag word',
    choice: 'Sitplekke kies',
    accessibility: 'Toeganklikheid',
    holds: 'Sitplekke hou',
  },
  rules: {
    allow_reserved_seating: {
      name: 'Genommerde sitplekke',
      text: 'Geleenthede mag sitplekke met ’n ry en ’n nommer verkoop.',
    },
    allow_ga_seating: {
      name: 'Plekke sonder nommers',
      text: 'Geleenthede mag plekke in ’n sone verkoop, om te staan of te sit waar ’n mens wil.',
    },
    allow_hybrid_ga_reserved: {
      name: 'Albei by een geleentheid',
      text: '’n Geleentheid mag genommerde sitplekke en plekke sonder nommers langs mekaar hê.',
    },
    allow_vip_zones: {
      name: 'BBP-sones',
      text: 'Uitlegte mag sones vir eregaste hê.',
    },
    max_seats_per_booking: {
      name: 'Meeste sitplekke in een bespreking (sitplekke)',
      text: 'Van 1 tot 50. Wie meer wil hê, bespreek twee keer of bel jou.',
    },
    orphan_avoidance_strict: {
      name: 'Laat geen enkele sitplek agter nie',
      text: '’n Bespreking wat een vry sitplek tussen geneemde los, word geweier, want niemand koop dit nie.',
    },
    group_adjacency_strict: {
      name: 'Groepe sit bymekaar of glad nie',
      text: 'As dit af is, kry ’n groep wat nêrens bymekaar pas nie, sitplekke naby mekaar.',
    },
    max_group_split: {
      name: 'Dele van ’n groep hoogstens so ver uitmekaar (rye)',
      text: 'Van 0 tot 20. Met 0 is alle dele van ’n groep in een ry.',
    },
    prefer_clustering_over_selection: {
      name: 'Die stelsel kies die sitplekke',
      text: 'Kliënte sê hoeveel hulle wil hê, nie watter nie. Die saal word sonder gapings vol.',
    },
    enforce_accessibility_rules: {
      name: 'Hou metgeselsitplekke',
      text: 'Die sitplek langs ’n geneemde rolstoelplek word gehou vir wie saamkom.',
    },
    max_wheelchair_seats_per_booking: {
      name: 'Meeste rolstoelplekke in een bespreking (plekke)',
      text: 'Van 1 tot 50.',
    },
    companion_release_occupancy_threshold: {
      name: 'Verkoop metgeselsitplekke aan almal wanneer so vol (persent)',
      text: 'Van 0 tot 100. Sodra soveel van die saal verkoop is, word gehoue metgeselsitplekke aan almal verkoop.',
    },
    accessibility_audit_enabled: {
      name: 'Teken besprekings van rolstoelplekke aan',
      text: 'Elkeen word in die ouditlog geskryf, om te wys dat die reëls gehou word.',
    },
    default_hold_ttl_minutes: {
      name: 'Hoe lank ’n sitplek gehou word (minute)',
      text: 'Van 1 tot 60. So lank het iemand om te betaal voordat die sitplek weer vry is.',
    },
    max_holds_per_user: {
      name: 'Meeste sitplekke wat een persoon hou (sitplekke)',
      text: 'Leeg: geen perk behalwe die algemene nie.',
    },
    max_holds_per_ip: {
      name: 'Meeste sitplekke van een internetadres (sitplekke)',
      text: 'Leeg: geen perk nie. ’n Hele kantoor deel dalk een adres.',
    },
  },
};

export const scanPolicy: Messages['scanPolicy'] = {
  title: 'Hoe hierdie geleentheid geskandeer word',
  reading: 'Lees die skandeerbeleid',
  failed: 'Die skandeerbeleid kon nie gelees word nie',
  atTheGate: 'By die hek',
  suspicious: 'Waaroor gewaarsku word',
  suspiciousHint: 'Niemand word hierdeur weggewys nie; dit verskyn in die werktoue.',
  rules: {
    dedup_window_s: {
      name: 'Duplikaatvenster (sekondes)',
      text: 'So lank ná ’n ingang word dieselfde kaartjie as duplikaat weggewys. Gewoonlik 300.',
    },
    travel_s: {
      name: 'Kortste pad tussen twee hekke (sekondes)',
      text: '’n Kaartjie wat vinniger by twee hekke gewys word, is verdag. Gewoonlik 300.',
    },
    duplicates_per_hour_max: {
      name: 'Duplikate van een kaartjie (per uur)',
      text: 'Meer as soveel is verdag. Gewoonlik 5.',
    },
    gate_scans_per_minute_max: {
      name: 'Skanderings by een hek (per minuut)',
      text: 'Meer as soveel is verdag. Gewoonlik 60.',
    },
    device_error_rate_max: {
      name: 'Foute van een toestel (persent)',
      text: 'Van sy skanderings in tien minute, as daar ten minste twintig is: onleesbare of vervalste kodes, ’n verkeerde klok. Gewoonlik 10.',
    },
  },
  blocks: 'Stop ’n toestel wat meer foute maak',
  blocksText: 'Dit skandeer nie meer totdat iemand dit weer aanskakel nie.',
};
