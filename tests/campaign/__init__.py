"""Campaigns against gpunim from outside: hostile command lines, damaged files, kills, pairs at once, little memory.

Each campaign deals seeded cases, one an index; a case runs gpunim as its users do and holds what comes of it against rules that
no single fault is written into (`judge`): an end within a limit, exit status 0, 1 or 2, one sentence for a refusal, nothing left
lying about, and for whatever is accepted the very result of an undisturbed run.

    scripts/campaign lines --seed 1 --count 1000        command lines, made from what click knows of each command
    scripts/campaign files kills pairs memory           the others; without names, all of them
    scripts/campaign lines --seed 1 --only 321          one case again, with all that it printed

`tests/test_campaign.py` runs a short round of each.
"""
