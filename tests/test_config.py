from pathlib import Path

import pytest

from voelgoed.config import SettingsError, read_settings


def test_defaults_need_no_environment():
    settings = read_settings({})
    assert settings.data == Path("var")
    assert settings.database_url is None
    assert not settings.secure_cookies


def test_values_are_read_and_converted():
    settings = read_settings(
        {
            "VOELGOED_DATA": "/srv/x",
            "VOELGOED_DATABASE_CONNECTIONS_MAX": "7",
            "VOELGOED_PUBLIC_URL": "https://tickets.example",
            "PATH": "/bin",
        }
    )
    assert settings.data == Path("/srv/x")
    assert settings.database_connections_max == 7
    assert settings.secure_cookies


@pytest.mark.parametrize(
    "environment",
    [
        {"VOELGOED_DATABSE_URL": "postgresql://x"},
        {"VOELGOED_LOG_LEVEL": "loud"},
        {"VOELGOED_DATABASE_CONNECTIONS_MAX": "many"},
        {"VOELGOED_DATABASE_CONNECTIONS_MAX": "0"},
    ],
)
def test_a_wrong_setting_is_explained(environment: dict[str, str]):
    with pytest.raises(SettingsError):
        read_settings(environment)
