"""Amounts in words: from minor units, of which each currency has its own number."""

PLACES_OTHERWISE = 2
PLACES: dict[str, int] = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF"), 0),
    **dict.fromkeys(("UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}
"""Digits after the point where it is not two of them, as ISO 4217 has it."""
SIGNS = {"ZAR": "R"}


def money_text(amount_minor: int, currency: str) -> str:
    """`R 1,250.00`; other currencies go by their code, because half the world has a dollar."""
    places = PLACES.get(currency, PLACES_OTHERWISE)
    whole, part = divmod(abs(amount_minor), 10**places)
    fraction = f".{part:0{places}}" if places else ""
    minus = "-" if amount_minor < 0 else ""
    return f"{SIGNS.get(currency, currency)} {minus}{whole:,}{fraction}"
