"""A certificate of this machine's own, for trying things with a phone. Nobody vouches for it: browsers
warn, once, and then give the page its camera."""

import socket
from contextlib import suppress
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from voelgoed.infra.data_directory import DataDirectory

FILE = "tls.pem"
"""Key and certificate, so that neither is ever there without the other."""
LASTS = timedelta(days=365)
"""Some browsers take none that lasts longer than 825 days, whoever vouches for it."""
RENEWED_BEFORE_END = timedelta(days=30)
BACKDATED = timedelta(days=1)
"""For phones whose clocks are behind."""
LOCAL = ("localhost", "127.0.0.1", "::1")
ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses that are nobody's: the way there begins at our own."""


def own_addresses() -> list[str]:
    """By which others in the same network reach this machine; the likeliest first."""
    found: list[str] = []
    for family, elsewhere in ELSEWHERE.items():
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))  # nothing is sent
            found.append(probe.getsockname()[0])
    with suppress(OSError):
        named = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
        found += [str(address[0]) for *_, address in named]
    return [each for each in dict.fromkeys(found) if not _is_local(each)]


def _is_local(address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:  # with the name of an interface in it
        return True
    return parsed.is_loopback or parsed.is_link_local


def ensure_certificate(directory: DataDirectory, addresses: list[str], now: datetime) -> Path:
    """The one there is, unless it ends soon, cannot be read, or is not for one of these addresses."""
    names = list(dict.fromkeys([*LOCAL, *addresses]))
    path = directory.path / FILE
    if not _is_good(path, names, now):
        directory.write_secret(FILE, _make(names, now))
    return path


def _is_good(path: Path, names: list[str], now: datetime) -> bool:
    try:
        pem = path.read_bytes()
        serialization.load_pem_private_key(pem, None)
        certificate = x509.load_pem_x509_certificate(pem)
        told = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    known = {str(name.value) for name in told}
    return known.issuperset(names) and certificate.not_valid_after_utc - now > RENEWED_BEFORE_END


def _make(names: list[str], now: datetime) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Voelgoed on this machine")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + LASTS)
        .add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return (secret + certificate.public_bytes(serialization.Encoding.PEM)).decode()


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)
