"""`voelgoed simulate`: a crowd at the gates of a running server, on a bad day, and whether anything was
lost."""
