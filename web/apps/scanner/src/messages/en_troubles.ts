/** What went wrong, and what to do about it. */
export interface Trouble {
  what: string;
  todo: string;
}

export const troubles = {
  server_away: {
    what: 'The server does not answer.',
    todo: 'Check the Wi-Fi or mobile data of this device and try again.',
  },
  not_paired: { what: 'This device is not paired.', todo: 'Pair it first.' },
  no_gate: {
    what: 'This device has no gate.',
    todo: 'Ask whoever looks after devices to give it one. It follows within half a minute.',
  },
  nothing_read: { what: 'Nothing was read.', todo: 'Scan or type the code again.' },
  key_refused: {
    what: 'The server does not know the key of this device.',
    todo: 'It was revoked or switched off. Pair it again; its scans are kept.',
  },
  inactive: {
    what: 'Somebody switched this device off.',
    todo: 'Ask whoever looks after devices to switch it on again.',
  },
  refused: { what: 'The server refused.', todo: 'Try again; if it stays so, tell a supervisor.' },
  forged_manifest: {
    what: 'The ticket list was not made for this device and was not kept.',
    todo: 'Somebody may be tampering with the network. Use another network and tell a supervisor.',
  },
  manifest_of_another_event: {
    what: 'The ticket list is for another event and was not kept.',
    todo: 'Check the gate of this device with whoever looks after devices.',
  },
  manifest_too_old: {
    what: 'The ticket list that came is older than the one here and was not kept.',
    todo: 'Try again in a minute; if it stays so, tell a supervisor.',
  },
  unreadable_manifest: {
    what: 'This app cannot read the ticket list.',
    todo: 'Restart the app to get its newest version.',
  },
  storage_full: {
    what: 'The storage of this device is full.',
    todo: 'Delete photos or apps, and send the scans that wait. Do not scan on before that.',
  },
  state_unusable: {
    what: 'This browser does not let the app keep anything.',
    todo: 'Leave private browsing, or use another browser.',
  },
  state_lost: {
    what: 'What this device keeps cannot be reached any more.',
    todo: 'Restart the app. Scans that were shown are kept.',
  },
  insecure: {
    what: 'The address of this page is not secure, so the browser allows neither camera nor keys.',
    todo: 'Open the page with https.',
  },
  pairing_token_not_found: {
    what: 'This code is not known, was used already, or is older than five minutes.',
    todo: 'Ask for a new code and use it within five minutes.',
  },
  device_already_paired: {
    what: 'The organisation knows this device already.',
    todo: 'Ask for “Pair again” beside its name on the dashboard’s page of devices, and use that code.',
  },
  pairing_for_another_device: {
    what: 'This code is for another device.',
    todo: 'Ask for a code for this device.',
  },
  too_many_devices: {
    what: 'The organisation has too many devices.',
    todo: 'Whoever looks after devices must revoke those that are not used.',
  },
  rate_limited: { what: 'Too many attempts.', todo: 'Wait a minute and try again.' },
  token_unreadable: {
    what: 'That is not a pairing code.',
    todo: 'It has twelve letters and digits, such as 7K2M-9QXD-E4TR.',
  },
  token_is_ticket: {
    what: 'That is the barcode of a ticket, not a pairing code.',
    todo: 'Scan the code on the screen of whoever looks after devices.',
  },
  timestamp_out_of_range: {
    what: 'The clock of this device is more than five minutes off.',
    todo: 'Let the device set its date and time by itself.',
  },
  event_not_found: {
    what: 'The event of this device does not exist any more.',
    todo: 'Ask whoever looks after devices to give it another gate.',
  },
  event_not_live: {
    what: 'The event is not open for scanning, so the queue was not looked at.',
    todo: 'Use “Send now” instead, or export the queue.',
  },
  batch_too_old: {
    what: 'The scans, or the clock of this device, are more than a day off.',
    todo: 'Export the queue for the office.',
  },
  camera_denied: {
    what: 'The camera is not allowed.',
    todo: 'Allow it in the settings of the browser for this page, then try again.',
  },
  camera_missing: {
    what: 'There is no camera.',
    todo: 'Use a hand scanner or type the code.',
  },
  camera_busy: {
    what: 'Another app uses the camera.',
    todo: 'Close it and try again.',
  },
  camera_unsupported: {
    what: 'This browser cannot use the camera here.',
    todo: 'Open the page with https, in a browser that is up to date, or type the code.',
  },
  decoder_broken: {
    what: 'The part of the app that reads codes does not start.',
    todo: 'Restart the app, or type the code.',
  },
  keys_hidden: {
    what: 'The keyboard chosen on this device hides what the scanner types.',
    todo: 'Choose a plain English keyboard without suggestions, and scan again.',
  },
  busy: {
    what: 'Another tab of this app is sending.',
    todo: 'Wait until it is done.',
  },
  sending: {
    what: 'This app is sending already.',
    todo: 'Try again when it is done.',
  },
  unexpected: {
    what: 'Something went wrong in this app.',
    todo: 'Restart the app. Scans that were shown are kept.',
  },
} satisfies Record<string, Trouble>;

export type TroubleCode = keyof typeof troubles;
