"""Which ticket a device was shown, and which of its barcodes."""

import msgspec

from voelgoed.scanning.model.sync_facts import SyncFacts
from voelgoed.scanning.rules.offline_scans import OfflineScan
from voelgoed.scanning.rules.synced import issue_then
from voelgoed.ticketing.model.admissions import ScannedTicket
from voelgoed.ticketing.rules.barcode import read_barcode, verify_barcode


class ShownTicket(msgspec.Struct, frozen=True, kw_only=True):
    ticket: ScannedTicket | None = None
    issue: int | None = None
    """The number of the barcode that was shown; None for a code that was typed."""
    is_forged: bool = False
    """The barcode names the ticket and is none of its own."""


class TicketIndex:
    """Finds the tickets of a delivery's scans."""

    def __init__(self, facts: SyncFacts) -> None:
        self._facts = facts
        self._by_id = {ticket.id: ticket for ticket in facts.tickets}
        self._by_code = {ticket.code: ticket for ticket in facts.tickets}
        self._by_hash = {ticket.barcode_hash: ticket for ticket in facts.tickets}
        self._replaced: dict[str, int] = {}
        """The issues of barcodes that were replaced, by their hashes."""
        for ticket_id, reissues in facts.reissues.items():
            for each in reissues:
                if each.barcode_hash is not None:
                    self._by_hash[each.barcode_hash] = self._by_id[ticket_id]
                    self._replaced[each.barcode_hash] = each.issue

    def ticket_of(self, scan: OfflineScan) -> ScannedTicket | None:
        """Finds the ticket by its id first, which is signed; then by what was read, or by its hash."""
        if scan.ticket_id is not None and scan.ticket_id in self._by_id:
            return self._by_id[scan.ticket_id]
        if scan.presented is not None:
            return self._by_code.get(scan.presented.code)
        return self._by_hash.get(scan.barcode_hash) if scan.barcode_hash else None

    def find(self, scan: OfflineScan) -> ShownTicket:
        ticket, shown = self.ticket_of(scan), scan.barcode_hash
        if ticket is None or shown is None:
            return ShownTicket(ticket=ticket)
        if shown == ticket.barcode_hash:
            return ShownTicket(ticket=ticket, issue=ticket.issue)
        issue = self._replaced.get(shown) if self._by_hash.get(shown) is ticket else None
        barcode = read_barcode(scan.presented.text) if scan.presented else None
        if issue is None and barcode is not None:
            keys = dict(self._facts.keys.get(ticket.event_id, {}))
            is_its_own = barcode.fields.ticket_id == ticket.id
            if not is_its_own or not verify_barcode(barcode, ticket.event_id, keys):
                return ShownTicket(is_forged=True)
            issue = barcode.fields.issue
        reissues = self._facts.reissues.get(ticket.id, ())
        return ShownTicket(ticket=ticket, issue=issue_then(ticket.issue, issue, scan.at, reissues))
