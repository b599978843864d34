"""Layouts as people write and see them: text, tables, pictures. Pure, like the rules."""
