"""Campaigns against gpunim from outside: hostile command lines, kills, concurrent commands, little memory.

Each case runs gpunim as its users do and checks the results by rules that are independent of the fault (`judge`): an end within a
limit, exit status 0, 1 or 2, one sentence for a refusal, nothing left behind, and for accepted input the result of an undisturbed
run. `tests/test_campaign.py` tries a few cases of each kind, the same ones each time, or with GPUNIM_CAMPAIGN so many others:

    GPUNIM_CAMPAIGN=1000 ./scripts/test --all tests/test_campaign.py -k lines
"""
