"""
The English of people all over the world: 24 hours, and the day before the month.

Django's own format is American ("Nov. 5, 2026, 2:12 p.m."), and its German one is as it should be.
"""

TIME_FORMAT = "H:i"
DATE_FORMAT = "j F Y"
SHORT_DATE_FORMAT = "j M Y"
MONTH_DAY_FORMAT = "j F"
DATETIME_FORMAT = "j F Y, H:i"
SHORT_DATETIME_FORMAT = "j M Y, H:i"
