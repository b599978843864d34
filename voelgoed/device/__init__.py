"""The reference device: what a scanner at a gate does, in Python.

It pairs, fetches its manifest and verifies it, asks the server and decides alone when nobody answers,
keeps every scan on disk before it says anything, and brings them when there is a network again. It
knows the rules and the shapes of scanning, and of the server only its addresses.
"""
