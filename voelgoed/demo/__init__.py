"""A venue to try everything on, made on the first start: three events, of which much is sold, and at one
of them people come in.

The log-ins are written down before they are used, and every step may be repeated, so a start that is cut
off anywhere is finished by the next one. What happened in the weeks before is told again by the actions
that would have done it then, with a clock that shows the time of the story.
"""
