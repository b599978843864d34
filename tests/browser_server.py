"""`voelgoed` as the browser tests start it: passwords are hashed quickly, all else is the program."""

from tests.processes import quick_passwords
from voelgoed.cli import main

if __name__ == "__main__":
    with quick_passwords():
        main()
