"""Campaigns against gpunim from outside: hostile command lines, damaged files, kills, concurrent commands, little memory.

Each campaign generates seeded cases, one per index; a case runs gpunim as its users do and checks the results by rules that
are independent of the fault (`judge`): an end within a limit, exit status 0, 1 or 2, one sentence for a refusal, nothing left
behind, and for accepted input the result of an undisturbed run.

    scripts/campaign lines --seed 1 --count 1000        command lines, made from click's description of each command
    scripts/campaign files kills pairs memory           these campaigns; without names, all of them
    scripts/campaign lines --seed 1 --only 321          one case again, with all that it printed

`tests/test_campaign.py` runs a short round of each.
"""
