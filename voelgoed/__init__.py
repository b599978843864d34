"""Voelgoed: sells the seat, holds the seat and scans the ticket at the gate."""
