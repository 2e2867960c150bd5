"""A certificate authority, and a proxy that terminates TLS in front of a server without it."""

import datetime
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def make_certificates(directory: Path, host: str = "localhost") -> Path:
    """Write ca.pem, and server.pem with the key and certificate of a host; return ca.pem."""
    directory.mkdir(exist_ok=True)
    ca_key, ca_name = ec.generate_private_key(ec.SECP256R1()), _name("Tests CA")
    ca = _certificate(ca_name, ca_key.public_key(), ca_name, is_ca=True).sign(
        ca_key, hashes.SHA256()
    )
    key = ec.generate_private_key(ec.SECP256R1())
    names = x509.SubjectAlternativeName([x509.DNSName(host)])
    server = (
        _certificate(_name(host), key.public_key(), ca_name, is_ca=False)
        .add_extension(names, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (directory / "server.pem").write_bytes(
        private + server.public_bytes(serialization.Encoding.PEM)
    )
    (directory / "ca.pem").write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    return directory / "ca.pem"


@contextmanager
def tls_proxy(port: int, certificate: Path) -> Iterator[int]:
    """Accept TLS on a free port, and pass everything on to a port of this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=_accept, args=[listener, context, port], daemon=True).start()
        yield listener.getsockname()[1]


def _accept(listener: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            Thread(target=_serve, args=[connection, context, port], daemon=True).start()


def _serve(connection: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with suppress(OSError):
        client = context.wrap_socket(connection, server_side=True)
        server = socket.create_connection(("127.0.0.1", port))
        Thread(target=_copy, args=[server, client], daemon=True).start()
        _copy(client, server)


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while content := source.recv(65_536):
            target.sendall(content)
    except OSError:
        pass
    finally:
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(
    subject: x509.Name, key: ec.EllipticCurvePublicKey, issuer: x509.Name, *, is_ca: bool
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
    )
